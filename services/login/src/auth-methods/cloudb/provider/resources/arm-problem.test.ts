import { RestError } from '@azure/core-rest-pipeline';
import { expect, test } from '@jest/globals';
import { MissingPermission } from '../provider.ts';
import { armProblem } from './arm-problem.ts';

const reading = { what: 'virtual machines', permission: 'Microsoft.Compute/virtualMachines/read' };
const problemOf = (statusCode: number, code?: string) =>
  armProblem(new RestError('failed', { statusCode, ...(code && { code }) }), reading);

test('a permission is missing if the API says so', () => {
  expect(problemOf(403, 'AuthorizationFailed')).toBeInstanceOf(MissingPermission);
});

test.each<[number, string | undefined]>([
  [403, undefined], // a proxy or firewall
  [403, 'RequestDisallowedByPolicy'],
  [401, 'AuthorizationFailed'],
  [400, 'AuthorizationFailed'],
  [404, undefined],
  [500, 'AuthorizationFailed'],
])('no permission is missing because of status %s with the code %s', (status, code) => {
  expect(problemOf(status, code)).not.toBeInstanceOf(MissingPermission);
});
