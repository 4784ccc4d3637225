// A minimal login service: verifies the JWT with the directory's keys and stores a token.
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { bareSql } from './bare-sql.ts';
import { serve } from './serve.ts';
import { insertBareToken, tokenSeconds } from './token-insert.ts';

const { DATABASE_URL = '', KEYS_URL = '', ISSUER = '', AUDIENCE = '' } = process.env;
const sql = bareSql(DATABASE_URL);
const keys = createRemoteJWKSet(new URL(KEYS_URL));

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
  const { token, accessor, policies } = await insertBareToken(sql, String(payload.oid), role);
  const auth = { client_token: token, accessor, policies, lease_duration: tokenSeconds, renewable: true };
  response.json({ data: null, auth });
});

serve(app);
