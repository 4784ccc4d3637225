import type { Request } from 'express';
import { invalidArgument } from '../google-error.ts';
import type { OperationInput } from '../operations/operation.ts';

/** The API's host in a location (https://cloud.google.com/secret-manager/docs/locations#regional_endpoints). */
const regionalHost = /^secretmanager\.([a-z0-9-]+)\.rep\.googleapis\.com$/;

/**
 * Returns the location of the host that `X-Forwarded-Host`, or else the address, names; undefined for any other host, which
 * counts as the global one.
 */
export const endpointLocation = (request: Request): string | undefined =>
  regionalHost.exec(request.header('x-forwarded-host') ?? request.hostname)?.[1];

/**
 * Requires that a resource is addressed at its own endpoint. A regional endpoint only lets requests for resources of its
 * location through (https://cloud.google.com/secret-manager/docs/locations#regional_endpoints), and the global one does not
 * know the names of regional ones (https://github.com/googleapis/google-cloud-python/issues/13389).
 * @throws GoogleError INVALID_ARGUMENT
 */
export function requireOwnEndpoint(at: string | undefined, input: OperationInput): void {
  if (input.location === at) return;
  const expected = { project: '*', location: at, secret: input.secret && '*', version: input.version && '*' };
  throw invalidArgument(
    'name',
    `The provided Secret ID [${nameOf(input)}] does not match the expected format [${nameOf(expected)}]`,
  );
}

type Names = Pick<OperationInput, 'project' | 'location' | 'secret' | 'version'>;

const nameOf = ({ project, location, secret, version }: Names): string =>
  [
    `projects/${project}`,
    location && `locations/${location}`,
    secret && `secrets/${secret}`,
    version && `versions/${version}`,
  ]
    .filter(Boolean)
    .join('/')
    .slice(0, 1024);
