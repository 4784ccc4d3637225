import type { TestResponse } from '@secrets/http/testing';
import type { Sandbox, TokenOptions } from '@secrets/sandbox';
import { type CloudBForTest, startCloudBForTest } from '../../login-for-test.ts';
import {
  kelvin,
  lone,
  otherSubscription,
  resources,
  shared,
  subscription,
  type TokenClaims,
} from './world.ts';

/** The service and the sandbox with the resources of the decision table. */
export interface CloudBWithTable extends CloudBForTest {
  /** A JWT with these claims. */
  jwtOf(token: TokenClaims): Promise<string>;
  /** Logs in with a JWT of these claims, and a request that may name a place. */
  logInFrom(token: TokenClaims, request: object): Promise<TestResponse>;
}

export async function startCloudBWithTable(options?: { rowsAreBound: boolean }): Promise<CloudBWithTable> {
  const cloudB = await startCloudBForTest(options);
  addResources(cloudB.sandbox);
  const { clientId, clientSecret } = cloudB.sandbox.directory.application;
  await cloudB.configure({ client_id: clientId, client_secret: clientSecret, max_retries: 0 });
  const jwtOf = ({ hasgroups, ...claims }: TokenClaims) =>
    cloudB.issueJwt({
      ...claims,
      overrides: hasgroups === undefined ? {} : { hasgroups },
    } satisfies Partial<TokenOptions>);
  return {
    ...cloudB,
    jwtOf,
    logInFrom: async (token, request) => cloudB.logIn({ jwt: await jwtOf(token), ...request }),
  };
}

/** Names with the Kelvin sign are left out: the sandbox compares names with `toLowerCase`. */
function addResources({ resourceManager, directory }: Sandbox): void {
  for (const { id, principalId, clientId } of [shared, lone])
    resourceManager.addResource({ id, principal: { principalId, clientId } });
  for (const { id, location, systemAssigned, userAssigned, orchestration, scaleSetId } of resources)
    if (!id.includes(kelvin))
      resourceManager.addResource({
        id,
        location,
        principal: systemAssigned === undefined ? false : { principalId: systemAssigned },
        userAssigned: userAssigned.map((identity) => identity.id),
        properties: {
          ...(orchestration && { orchestrationMode: orchestration }),
          ...(scaleSetId && { virtualMachineScaleSet: { id: scaleSetId } }),
        },
        apiVersions: ['2024-07-10'],
      });
  for (const scope of [subscription, otherSubscription])
    resourceManager.addRoleAssignment({
      principalId: directory.application.oid,
      scope: `/subscriptions/${scope}`,
    });
}
