import { expect, test } from '@jest/globals';
import { decide } from '../../../src/auth-methods/cloudb/decision/decide.ts';
import type { PlaceRequest } from '../../../src/auth-methods/cloudb/decision/named-place.ts';
import { parseClaims } from '../../../src/auth-methods/cloudb/directory/claims.ts';
import { mergedRole, RoleBody } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import {
  bare,
  kelvin,
  otherSubscription,
  placeless,
  resources,
  setId,
  subscription,
  systemToken,
  type TokenClaims,
  tableProvider,
  userToken,
} from './world.ts';

// Whoever runs on any resource of the tenant, with any of its tokens, may name any place: nobody is admitted by a role
// whose bounds do not contain the resource on which the token was issued.

type Resource = (typeof resources)[number];

/** Where a resource really is. */
interface Truth {
  subscription: string;
  group: string;
  set: string | undefined;
  location: string;
}

const sets = ['agents', 'flex', 'flex_1'];

function truthOf({ id, scaleSetId, location }: Resource): Truth {
  const [, , inSubscription, , group] = id.split('/');
  const set = (scaleSetId ?? (id.includes('virtualMachineScaleSets') ? id : undefined))?.split('/').at(-1);
  return {
    subscription: inSubscription!,
    group: group!,
    set,
    location: location.replace(' ', '').toLowerCase(),
  };
}

const isFlexibleSet = ({ orchestration }: Resource) => orchestration === 'flexible';

/** The tokens of a resource, and whether they prove where it runs. Nothing runs on a flexible set itself. */
function tokensOf(resource: Resource): { token: TokenClaims; proves: boolean }[] {
  if (isFlexibleSet(resource)) return [];
  const own = systemToken(resource.id);
  const tokens = [
    { token: own, proves: true },
    { token: bare(own), proves: true },
  ];
  if (resource.userAssigned.length === 0) return tokens;
  const user = userToken(resource.id);
  return [
    ...tokens,
    { token: user, proves: true },
    { token: placeless(user), proves: false },
    { token: bare(user), proves: false },
  ];
}

const names = [...new Set(resources.map(({ id }) => id.split('/').at(-1)!)), 'Agents', 'FLEX_A1B2C3D4'];
const groups = [
  ...['rg', 'rg-prod', 'kube', `${kelvin}ube`].map((resource_group_name) => ({
    subscription_id: subscription,
    resource_group_name,
  })),
  { subscription_id: otherSubscription, resource_group_name: 'rg' },
];

/** Every place that a caller may name. */
const requests: PlaceRequest[] = groups.flatMap((group) => [
  ...names.map((vm_name) => ({ ...group, vm_name })),
  ...[...names, ...sets].map((vmss_name) => ({ ...group, vmss_name })),
  ...resources.map(({ id }) => ({ ...group, resource_id: id })),
]);

const roles: { body: object; admits(truth: Truth): boolean }[] = [
  ...[subscription, otherSubscription].map((bound) => ({
    body: { bound_subscription_ids: bound },
    admits: (truth: Truth) => truth.subscription === bound,
  })),
  ...['rg', 'rg-prod', 'kube'].map((bound) => ({
    body: { bound_resource_groups: bound },
    admits: (truth: Truth) => truth.group === bound,
  })),
  ...sets.map((bound) => ({
    body: { bound_scale_sets: bound },
    admits: (truth: Truth) => truth.set === bound,
  })),
  {
    body: { bound_subscription_ids: subscription, bound_resource_groups: 'rg', bound_locations: 'eastus' },
    admits: (truth) => truth.location === 'eastus' && truth.subscription === subscription,
  },
];

interface Trial {
  token: TokenClaims;
  body: object;
  mayPass: boolean;
}

/** Every token with every role, and whether what it runs on is bound. */
const trials: Trial[] = resources.flatMap((resource) =>
  tokensOf(resource).flatMap(({ token, proves }) =>
    roles.map(({ body, admits }) => ({ token, body, mayPass: proves && admits(truthOf(resource)) })),
  ),
);

/** The requests with which a token is admitted. */
async function admittedRequests({ token, body }: Trial): Promise<PlaceRequest[]> {
  const claims = parseClaims({ tid: 't', ...token });
  const role = mergedRole(undefined, RoleBody.parse(body));
  const admitted = [];
  for (const request of requests) {
    const attempt = { role, requirePrincipalBinding: false, claims, request, now: new Date(0) };
    const { refusal } = await decide(attempt, () => tableProvider);
    if (refusal === undefined) admitted.push(request);
  }
  return admitted;
}

test('nobody is admitted from a place that a role does not bind, whatever they name', async () => {
  const wrong: unknown[] = [];
  for (const trial of trials) {
    const admitted = await admittedRequests(trial);
    if (trial.mayPass !== admitted.length > 0) wrong.push({ ...trial, admitted });
  }
  expect(wrong).toEqual([]);
  expect(trials.filter(({ mayPass }) => mayPass).length).toBeGreaterThan(50);
});

test('the world has sets of both kinds, and machines that are named like their instances', () => {
  const flexible = resources.filter(isFlexibleSet).map(({ id }) => id);
  expect(flexible).toContain(setId('flex'));
  expect(names).toEqual(expect.arrayContaining(['flex_evil0000', 'agents_evil0000']));
});
