// A minimal login service: verifies the JWT with the directory's keys and stores a token.
import { hash, randomBytes } from 'node:crypto';
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { bareSql } from './bare-sql.ts';
import { serve } from './serve.ts';

const { DATABASE_URL = '', KEYS_URL = '', ISSUER = '', AUDIENCE = '' } = process.env;
const sql = bareSql(DATABASE_URL);
const keys = createRemoteJWKSet(new URL(KEYS_URL));
const seconds = 3_600;

const statement = `
  insert into login.tokens (hash, accessor, namespace_id, display_name, creation_path, policies, metadata, renewable,
    ttl_seconds, expires_at)
  values ($1, $2, 'root', $3, 'auth/bench/login', $4::text[], $5::jsonb, true, $6::integer,
    now() + $6::integer * interval '1 second')`;

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post('/v1/auth/:mount/login', express.json(), async (request, response) => {
  const { role, jwt } = request.body as { role: string; jwt: string };
  const { payload } = await jwtVerify(jwt, keys, {
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: ['RS256'],
  });
  const token = `sst_${randomBytes(32).toString('base64url')}`;
  const accessor = randomBytes(18).toString('base64url');
  const policies = ['default', 'bench'];
  await sql.query(statement, [
    hash('sha256', token, 'buffer'),
    accessor,
    String(payload.oid),
    policies,
    JSON.stringify({ role }),
    seconds,
  ]);
  const auth = { client_token: token, accessor, policies, lease_duration: seconds, renewable: true };
  response.json({ data: null, auth });
});

serve(app);
