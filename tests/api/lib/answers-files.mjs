// SPDX-License-Identifier: Apache-2.0
// An answer of every operation about files and uploads, for openapi.test.mjs.
const bytes = (raw, headers = {}) => ({ raw, type: 'application/octet-stream', headers });

export async function answersOfFiles(check, c, thread) {
  const of = '/v1/threads/{thread_id}/files';
  const one = `${of}/{name}`;
  const [name, version] = ['a', 1];
  const put = (text) => c.put(`/v1/threads/${thread}/files/${name}`, undefined, bytes(text));
  check(one, 'put', await put('one\n'), 201);
  check(one, 'put', await put('two\n'), 200);
  check(of, 'get', await c.get(`/v1/threads/${thread}/files`), 200);
  check(one, 'get', await c.get(`/v1/threads/${thread}/files/${name}`), 200);
  check(`${one}/info`, 'get', await c.get(`/v1/threads/${thread}/files/${name}/info`), 200);
  check(`${one}/info`, 'patch',
    await c.patch(`/v1/threads/${thread}/files/${name}/info`, { metadata: { k: 1 } }), 200);
  check(`${one}/versions`, 'get', await c.get(`/v1/threads/${thread}/files/${name}/versions`), 200);
  check(`${one}/versions/{version}`, 'get',
    await c.get(`/v1/threads/${thread}/files/${name}/versions/${version}`), 200);
  check(`${one}/diff`, 'get', await c.get(`/v1/threads/${thread}/files/${name}/diff`), 200);
  check(`${one}/restore`, 'post',
    await c.post(`/v1/threads/${thread}/files/${name}/restore`, { version: 1 }), 200);
  check(`${one}/copy`, 'post',
    await c.post(`/v1/threads/${thread}/files/${name}/copy`, { thread_id: thread, name: 'b' }),
    201);
  check(`${one}/versions/{version}`, 'delete',
    await c.del(`/v1/threads/${thread}/files/${name}/versions/${version}`), 204);
  check(one, 'delete', await c.del(`/v1/threads/${thread}/files/${name}`), 204);
  await answersOfUploads(check, c, thread);
}

async function answersOfUploads(check, c, thread) {
  const of = '/v1/threads/{thread_id}/uploads';
  const one = `${of}/{upload_id}`;
  const begin = () => c.post(`/v1/threads/${thread}/uploads`, { name: 'big', size_bytes: 3 });
  const { id } = check(of, 'post', await begin(), 201);
  check(of, 'get', await c.get(`/v1/threads/${thread}/uploads`), 200);
  check(one, 'get', await c.get(`/v1/threads/${thread}/uploads/${id}`), 200);
  const piece = bytes('big', { 'Upload-Offset': '0' });
  check(one, 'patch', await c.patch(`/v1/threads/${thread}/uploads/${id}`, undefined, piece), 200);
  check(`${one}/complete`, 'post',
    await c.post(`/v1/threads/${thread}/uploads/${id}/complete`), 201);
  const other = (await begin()).body.id;
  check(one, 'delete', await c.del(`/v1/threads/${thread}/uploads/${other}`), 204);
}
