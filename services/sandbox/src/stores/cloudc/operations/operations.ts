import type { Operation } from './operation.ts';
import { createSecret, deleteSecret, getSecret, listSecrets, updateSecret } from './secret-operations.ts';
import {
  accessSecretVersion,
  addSecretVersion,
  destroySecretVersion,
  disableSecretVersion,
  enableSecretVersion,
  getSecretVersion,
  listSecretVersions,
} from './version-operations.ts';

interface Route {
  operation: string;
  method: string;
  path: RegExp;
  run: Operation;
}

const project = '/v1/projects/(?<project>[^/]+)';
const secrets = `${project}(?:/locations/(?<location>[^/]+))?/secrets`;
const secret = `${secrets}/(?<secret>[^/:]+)`;
const version = `${secret}/versions/(?<version>[^/:]+)`;

const route = (operation: string, method: string, path: string, run: Operation): Route => ({
  operation,
  method,
  path: new RegExp(`^${path}$`),
  run,
});

/** The supported operations by their path (https://cloud.google.com/secret-manager/docs/reference/rest). */
export const routes: readonly Route[] = [
  route('CreateSecret', 'POST', secrets, createSecret),
  route('ListSecrets', 'GET', secrets, listSecrets),
  route('GetSecret', 'GET', secret, getSecret),
  route('UpdateSecret', 'PATCH', secret, updateSecret),
  route('DeleteSecret', 'DELETE', secret, deleteSecret),
  route('AddSecretVersion', 'POST', `${secret}:addVersion`, addSecretVersion),
  route('ListSecretVersions', 'GET', `${secret}/versions`, listSecretVersions),
  route('GetSecretVersion', 'GET', version, getSecretVersion),
  route('AccessSecretVersion', 'GET', `${version}:access`, accessSecretVersion),
  route('EnableSecretVersion', 'POST', `${version}:enable`, enableSecretVersion),
  route('DisableSecretVersion', 'POST', `${version}:disable`, disableSecretVersion),
  route('DestroySecretVersion', 'POST', `${version}:destroy`, destroySecretVersion),
];
