// `helm test`: asks for the health of the API, then stores a secret in a mount of its own, reads it, and removes the mount.
import { readFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const { API_URL, SERVER_NAME, CERTIFICATE_FILE, TOKEN_FILE } = process.env;
const token = readFileSync(TOKEN_FILE, 'utf8').trim();
// The certificate of the gateway itself is trusted, and nothing else.
const tls = CERTIFICATE_FILE
  ? { ca: readFileSync(CERTIFICATE_FILE), allowPartialTrustChain: true, servername: SERVER_NAME }
  : {};
const send = CERTIFICATE_FILE ? requestHttps : requestHttp;

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { host: SERVER_NAME, 'x-service-token': token, 'content-type': 'application/json' };
    const request = send(
      `${API_URL}/v1/${path}`,
      { method, headers, timeout: 10_000, ...tls },
      async (response) => {
        const text = (await response.toArray()).join('');
        if (response.statusCode < 300) resolve(text === '' ? {} : JSON.parse(text));
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      },
    );
    request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no response within 10 s`)));
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const { service_version: version } = await call('GET', 'sys/health');
console.log(`the service is ready: ${version}`);
const mount = `helm-test-${Date.now()}`;
await call('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
try {
  await call('POST', `${mount}/data/greeting`, { data: { hello: 'world' } });
  const { data } = await call('GET', `${mount}/data/greeting`);
  if (data.data.hello !== 'world') throw new Error(`read ${JSON.stringify(data.data)}`);
  console.log('a secret was stored and read');
} finally {
  await call('DELETE', `sys/mounts/${mount}`);
}
