import { expect, test } from '@jest/globals';
import { isAllowedRedirect } from './redirect-uris.ts';

const allowed = ['https://secrets.example/ui/signed-in', 'http://localhost:8250/oidc/callback'];

test.each([
  'https://secrets.example/ui/signed-in',
  'http://localhost:8250/oidc/callback',
  'http://localhost:49152/oidc/callback',
])('allows %s', (uri) => expect(isAllowedRedirect(uri, allowed)).toBe(true));

test.each([
  '',
  'https://secrets.example/ui/signed-in/',
  'https://secrets.example/ui/signed-in?x=1',
  'https://secrets.example:8443/ui/signed-in',
  'https://secrets.example.evil/ui/signed-in',
  'https://user@secrets.example/ui/signed-in',
  'http://secrets.example/ui/signed-in',
  'https://localhost:8250/oidc/callback',
  'http://localhost.evil:8250/oidc/callback',
  'http://127.0.0.1:8250/oidc/callback',
  'http://localhost:8250/oidc/callback#x',
  'http://localhost:8250/oidc/../oidc/callback',
  'http://evil@localhost:8250/oidc/callback',
  'javascript:alert(1)',
])('refuses %s', (uri) => expect(isAllowedRedirect(uri, allowed)).toBe(false));
