import { expect, test } from '@jest/globals';
import {
  isAdministrativePath,
  needsSudo,
  ownerOf,
  publicPath,
  receivesToken,
  takesWrappingToken,
} from './path-rules.ts';

test.each([
  ['sys/capabilities', 'login'],
  ['sys/capabilities-self', 'login'],
  ['sys/capabilities-accessor', 'login'],
  ['sys/policies/acl/a', 'login'],
  ['auth/cloudB/login', 'login'],
  ['identity/oidc/plugins/.well-known/keys', 'login'],
  ['sys/sync/config', 'sync-control'],
  ['sys/internal/ui/mounts/kv', 'secrets'],
  ['sys/mounts/auth/a/b/tune', 'login'],
  ['sys/mounts/auth/a', 'login'],
  ['sys/mounts/authors/tune', 'secrets'],
  ['sys/wrapping/unwrap', 'login'],
  ['sys/internal/wrapped-responses', undefined],
  ['sys/health', 'gateway'],
  ['sys/syncs', undefined],
  ['sys', undefined],
  ['SYS/mounts', 'secrets'],
  ['system/data/a', 'secrets'],
  ['authority/data/a', 'secrets'],
])('%s belongs to %s', (path, service) => {
  expect(ownerOf(path)).toBe(service);
});

test('reading health, the API description and the issuer documents needs no token', () => {
  for (const path of [
    'sys/health',
    'sys/internal/specs/openapi',
    'identity/oidc/plugins/.well-known/openid-configuration',
    'identity/oidc/plugins/.well-known/keys',
  ]) {
    expect(publicPath('read', path)).toEqual({ kind: 'open' });
    expect(publicPath('create-or-update', path)).toBeUndefined();
    expect(publicPath('read', `${path}/more`)).toBeUndefined();
    expect(publicPath('read', `x${path}`)).toBeUndefined();
  }
});

test('a login needs no token, and its mount may contain slashes', () => {
  expect(publicPath('create-or-update', 'auth/cloudB/login')).toEqual({ kind: 'login', mount: 'cloudB' });
  expect(publicPath('create-or-update', 'auth/a/b/login')).toEqual({ kind: 'login', mount: 'a/b' });
  expect(publicPath('read', 'auth/cloudB/login')).toBeUndefined();
  expect(publicPath('create-or-update', 'auth/login')).toBeUndefined();
});

test.each([
  'auth/token/revoke-orphan',
  'auth/a/b/rotate-root',
  'auth/a/b/diagnose',
  'sys/remount',
  'sys/rotate',
  'identity/oidc/rotate',
])('%s needs sudo', (path) => {
  expect(needsSudo('create-or-update', path)).toBe(true);
});

test.each(['auth/token/create', 'auth/rotate-root', 'sys/rotated', 'kv/data/sys/rotate'])(
  '%s does not need sudo',
  (path) => {
    expect(needsSudo('create-or-update', path)).toBe(false);
  },
);

test('changing an auth mount needs sudo, and reading it does not', () => {
  for (const path of ['sys/auth/cloudB', 'sys/auth/a/b/tune']) {
    for (const operation of ['create-or-update', 'delete'] as const)
      expect(needsSudo(operation, path)).toBe(true);
    for (const operation of ['read', 'list'] as const) expect(needsSudo(operation, path)).toBe(false);
  }
  expect(needsSudo('list', 'sys/auth')).toBe(false);
});

test('only sys/sync/config, sys/sync/parked and the configuration of the issuer are administrative', () => {
  expect(isAdministrativePath('identity/oidc/config')).toBe(true);
  expect(isAdministrativePath('identity/oidc/rotate')).toBe(true);
  expect(isAdministrativePath('identity/oidc/plugins/.well-known/keys')).toBe(false);
  expect(isAdministrativePath('sys/sync/parked')).toBe(true);
  expect(isAdministrativePath('sys/sync/parked/secret-changes/resend')).toBe(true);
  expect(isAdministrativePath('sys/sync/config')).toBe(true);
  expect(isAdministrativePath('sys/sync/config/x')).toBe(false);
  expect(isAdministrativePath('sys/sync/destinations')).toBe(false);
});

test('only five paths receive the token of the request, of which three take a wrapping token', () => {
  expect(
    ['auth/token/lookup-self', 'auth/token/renew-self', 'sys/wrapping/unwrap'].every(receivesToken),
  ).toBe(true);
  expect(
    ['auth/token/lookup', 'auth/token/revoke-self', 'sys/wrapping/wrap', 'kv/data/a'].some(receivesToken),
  ).toBe(false);
  expect(
    ['sys/wrapping/lookup', 'sys/wrapping/rewrap', 'sys/wrapping/unwrap'].every(takesWrappingToken),
  ).toBe(true);
  expect(['sys/wrapping/wrap', 'auth/token/lookup-self'].some(takesWrappingToken)).toBe(false);
});
