// Runs in a pod: writes secrets and reads them, without repeating anything, and prints a line of figures each second.
import { readFileSync } from 'node:fs';
import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const { API_URL = '', SERVER_NAME = '', CERTIFICATE_FILE, TOKEN = '' } = process.env;
const isSecure = CERTIFICATE_FILE !== undefined;
const tls = isSecure
  ? { ca: readFileSync(CERTIFICATE_FILE), allowPartialTrustChain: true, servername: SERVER_NAME }
  : {};
const send = isSecure ? requestSecure : requestPlain;
const pauseMs = 20;
/** Longer than a busy machine stalls. A slow answer is seen in the figures. */
const timeoutMs = 30_000;

/** Half of the writers keep their connection, the others open one for each request. */
const agents = [true, true, true, false, false, false].map((keepAlive) =>
  isSecure ? new SecureAgent({ keepAlive, maxSockets: 1 }) : new PlainAgent({ keepAlive, maxSockets: 1 }),
);

type WriterAgent = (typeof agents)[number];

// biome-ignore lint/suspicious/noExplicitAny: the parsed body
function call(agent: WriterAgent, method: string, path: string, body?: object): Promise<any> {
  return new Promise((resolve, reject) => {
    const headers = { host: SERVER_NAME, 'x-service-token': TOKEN, 'content-type': 'application/json' };
    const options = { method, headers, agent, timeout: timeoutMs, ...tls };
    const request = send(`${API_URL}/v1/${path}`, options, (response) => {
      response.on('error', reject);
      response.toArray().then((chunks) => {
        const text = chunks.join('');
        if ((response.statusCode ?? 0) < 300) resolve(text === '' ? undefined : JSON.parse(text));
        else reject(new Error(`${response.statusCode} ${text.slice(0, 300)}`));
      }, reject);
    });
    request.on('timeout', () => request.destroy(new Error('no response within 30 s')));
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

let figures = { requests: 0, failures: [] as string[], slowestMs: 0 };

/** Counts a request that is sent once. */
async function counted<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
  const started = performance.now();
  const at = new Date().toISOString();
  try {
    return await work();
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    const took = Math.round(performance.now() - started);
    figures.failures.push(`${at} ${what}, after ${took} ms: ${code} ${message}`);
    return undefined;
  } finally {
    figures.requests += 1;
    figures.slowestMs = Math.max(figures.slowestMs, Math.round(performance.now() - started));
  }
}

async function write(agent: WriterAgent, mount: string, name: string): Promise<never> {
  for (let value = 1; ; value += 1) {
    await sleep(pauseMs);
    const path = `${mount}/data/${name}`;
    const written = await counted(`write ${name}`, () => call(agent, 'POST', path, { data: { value } }));
    if (written === undefined) continue;
    const read = await counted(`read ${name}`, () => call(agent, 'GET', path));
    if (read !== undefined && read.data.data.value !== value)
      figures.failures.push(`${name} is ${read.data.data.value}, and ${value} was acknowledged`);
  }
}

const mount = `load-${Date.now()}`;
await call(agents[0]!, 'POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
setInterval(() => {
  console.log(JSON.stringify(figures));
  figures = { requests: 0, failures: [], slowestMs: 0 };
}, 1_000);
process.once('SIGTERM', () => process.exit(0));
await Promise.all(agents.map((agent, index) => write(agent, mount, `writer-${index}`)));
