-- SPDX-License-Identifier: Apache-2.0
-- Event appends for wrk. Environment: PATHS, a file with a path on each line, used in turn
-- (without it, the path of wrk's command line); BATCH, events per request (default: 1); KEY, the API key.
local paths = {}
if os.getenv("PATHS") then
    for line in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = line end
end

local event = '{"kind":"progress","text":"step done",'
    .. '"payload":{"n":1,"of":10,"note":"about as long as a progress line is"}}'
local batch = tonumber(os.getenv("BATCH") or "1")

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
if os.getenv("KEY") then wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY") end
wrk.body = batch == 1 and event
    or '{"events":[' .. string.rep(event, batch, ","):gsub("}{", "},{") .. ']}'

-- The requests are built once; each thread of wrk starts at a random position.
local requests, at = {}, 0

function init()
    for i = 1, #paths do requests[i] = wrk.format(nil, paths[i]) end
    if #paths == 0 then requests[1] = wrk.format() end
    math.randomseed(os.time())
    at = math.random(#requests)
end

function request()
    at = at % #requests + 1
    return requests[at]
end
