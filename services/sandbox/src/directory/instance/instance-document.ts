import type { Request } from 'express';
import { type HttpResponse, jsonResponse } from '../../simulation/http-response.ts';
import { guidFrom } from '../identity.ts';
import type { Instance } from './instance.ts';

const versions = [
  '2021-12-13',
  '2021-11-01',
  '2021-05-01',
  '2021-02-01',
  '2020-09-01',
  '2019-03-11',
  '2018-02-01',
];

/**
 * The document of the instance metadata service that describes the instance
 * (https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service).
 */
export function instanceDocument(request: Request, instance: Instance | undefined): HttpResponse {
  const { query } = request;
  if (request.header('metadata')?.toLowerCase() !== 'true' || request.header('x-forwarded-for') !== undefined)
    return badRequest('Bad request. Required metadata header not specified');
  if (!versions.includes(String(query['api-version'])))
    return badRequest('Bad request. api-version is invalid or was not specified in the request.', {
      'newest-versions': versions.slice(0, 3),
    });
  if (!instance) return jsonResponse(404, { error: 'Not found' });
  const compute = computeOf(instance);
  return jsonResponse(
    200,
    request.path.endsWith('/compute') ? compute : { compute, network: { interface: [] } },
  );
}

const computeOf = ({
  resourceId,
  subscriptionId,
  resourceGroup,
  name,
  scaleSetName,
  location,
}: Instance) => ({
  azEnvironment: 'AzurePublicCloud',
  location,
  name,
  osType: 'Linux',
  resourceGroupName: resourceGroup,
  resourceId,
  subscriptionId,
  vmId: guidFrom(`unique ID of ${resourceId.toLowerCase()}`),
  vmScaleSetName: scaleSetName,
  zone: '',
});

const badRequest = (error: string, details: object = {}): HttpResponse =>
  jsonResponse(400, { error, ...details });
