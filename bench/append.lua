-- One event append a request, for wrk: the path is given on its command line.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"kind":"progress","text":"step done",'
    .. '"payload":{"n":1,"of":10,"note":"about as long as a progress line is"}}'
