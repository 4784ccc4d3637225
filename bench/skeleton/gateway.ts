// A minimal gateway: looks up the token by its hash and forwards the request.
import { hash } from 'node:crypto';
import express, { type Request } from 'express';
import { Pool } from 'undici';
import { bareSql } from './bare-sql.ts';
import { serve } from './serve.ts';

const { DATABASE_URL = '', UPSTREAM_URL = '', TOKENS } = process.env;
const sql = bareSql(DATABASE_URL);
const upstream = new Pool(UPSTREAM_URL, { connections: 256 });
const cache = new Map<string, boolean>();

const checks: Record<string, (token: string) => boolean | Promise<boolean>> = {
  /** One statement per request. */
  read: readToken,
  /** From memory. Revocations have no effect. */
  cached: (token) => cache.get(token) ?? readAndCache(token),
  none: () => true,
};
const check = checks[TOKENS ?? '']!;

async function readToken(token: string): Promise<boolean> {
  const statement = 'select policies, expires_at from login.tokens where hash = $1';
  return (await sql.query(statement, [hash('sha256', token, 'buffer')])).length > 0;
}

async function readAndCache(token: string): Promise<boolean> {
  const isKnown = await readToken(token);
  cache.set(token, isKnown);
  return isKnown;
}

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(async (request, response) => {
  const body = request.method === 'GET' ? null : await bodyOf(request);
  if (!(await check(String(request.headers['x-service-token'])))) {
    response.status(403).json({ errors: ['permission denied'] });
    return;
  }
  const answer = await upstream.request({
    method: request.method as 'GET' | 'POST',
    path: request.url,
    headers: body === null ? [] : ['content-type', 'application/json'],
    body,
  });
  const text = await answer.body.text();
  response.writeHead(answer.statusCode, {
    'content-type': String(answer.headers['content-type']),
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
});

function bodyOf(request: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

serve(app);
