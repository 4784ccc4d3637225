import { expect, test } from '@jest/globals';
import type { Problem } from '@secrets/domain';
import { decide } from '../../../src/auth-methods/cloudb/decision/decide.ts';
import type { PlaceRequest } from '../../../src/auth-methods/cloudb/decision/named-place.ts';
import type { ProvenPlace } from '../../../src/auth-methods/cloudb/decision/place-bounds.ts';
import { parseClaims } from '../../../src/auth-methods/cloudb/directory/claims.ts';
import { mergedRole, RoleBody } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import {
  bare,
  kelvin,
  type MachineAnswers,
  otherSubscription,
  placeless,
  providerWith,
  resources,
  setId,
  subscription,
  systemToken,
  type TokenClaims,
  userToken,
} from './world.ts';

// Whoever runs on any resource of the tenant, with any of its tokens, may name any place: no one is admitted by a role
// whose bounds do not contain the resource on which the token was issued.

type Resource = (typeof resources)[number];

/** Where a resource really is. */
interface Truth {
  subscription: string;
  group: string;
  set: string | undefined;
  machine: string | undefined;
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
    machine: id.includes('/virtualMachines/') ? id.split('/').at(-1) : undefined,
    location: plain(location),
  };
}

const plain = (location: string): string => location.replace(' ', '').toLowerCase();

/** Whether all that was proven about a place is true. */
const isTrue = (place: ProvenPlace, { subscription: inSubscription, group, set, machine, location }: Truth) =>
  place.subscriptionId === inSubscription &&
  place.resourceGroup === group &&
  (place.scaleSet === undefined || place.scaleSet === set) &&
  (place.machine === undefined || place.machine === machine) &&
  (place.location === undefined || plain(place.location) === location);

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
  ...['eastus', 'westus'].map((bound) => ({
    body: { bound_subscription_ids: subscription, bound_resource_groups: 'rg', bound_locations: bound },
    admits: (truth: Truth) =>
      truth.location === bound && truth.subscription === subscription && truth.group === 'rg',
  })),
];

interface Trial {
  token: TokenClaims;
  body: object;
  truth: Truth;
  mayPass: boolean;
}

/** Every token with every role, and whether what it runs on is bound. */
const trials: Trial[] = resources.flatMap((resource) =>
  tokensOf(resource).flatMap(({ token, proves }) =>
    roles.map(({ body, admits }) => {
      const truth = truthOf(resource);
      return { token, body, truth, mayPass: proves && admits(truth) };
    }),
  ),
);

/** The requests with which a token is admitted, and what each proved. */
async function admissions({ token, body }: Trial, machines: MachineAnswers) {
  const claims = parseClaims({ tid: 't', ...token });
  const role = mergedRole(undefined, RoleBody.parse(body));
  const admitted: { request: PlaceRequest; place: ProvenPlace }[] = [];
  for (const request of requests) {
    const attempt = { role, requirePrincipalBinding: false, claims, request, now: new Date(0) };
    const decision = await decide(attempt, () => providerWith(machines)).catch((error: Problem) => ({
      refusal: { reason: error.message },
    }));
    if (decision.refusal === undefined) admitted.push({ request, place: decision.place! });
  }
  return admitted;
}

// CVE-2025-3879: a name in the request decided about the place.
test('nobody is admitted from a place that a role does not bind, whatever they name, and what is proven is true', async () => {
  const wrong: unknown[] = [];
  for (const trial of trials) {
    const admitted = await admissions(trial, 'complete');
    const areTrue = admitted.every(({ place }) => isTrue(place, trial.truth));
    if (trial.mayPass !== admitted.length > 0 || !areTrue) wrong.push({ ...trial, admitted });
  }
  expect(wrong).toEqual([]);
  expect(trials.filter(({ mayPass }) => mayPass).length).toBeGreaterThan(50);
});

/** Trials on a virtual machine: for other resources, no machine is read. */
const machineTrials = trials.filter(({ truth }) => truth.machine !== undefined);

test('nor is anybody while the provider returns nonsense about machines', async () => {
  const wrong: unknown[] = [];
  for (const trial of machineTrials) {
    const admitted = await admissions(trial, 'unusable');
    const places = admitted.filter(({ place }) => !isTrue(place, trial.truth));
    if (places.length > 0 || (admitted.length > 0 && !trial.mayPass)) wrong.push({ ...trial, admitted });
  }
  expect(wrong).toEqual([]);
});

test('if machines may not be read, only for bound_scale_sets does a name decide, and what is proven is true', async () => {
  const wrong: unknown[] = [];
  let byName = 0;
  for (const trial of machineTrials) {
    const admitted = await admissions(trial, 'forbidden');
    const places = admitted.filter(({ place }) => !isTrue(place, trial.truth));
    const isByName =
      'bound_scale_sets' in trial.body &&
      admitted.every(({ place }) => place.scaleSet === undefined && place.presumedScaleSet !== undefined);
    if (admitted.length > 0 && !trial.mayPass && isByName) byName += 1;
    if (places.length > 0 || (admitted.length > 0 && !trial.mayPass && !isByName))
      wrong.push({ ...trial, admitted });
  }
  expect(wrong).toEqual([]);
  expect(byName).toBeGreaterThan(0);
});

test('the world has sets of both kinds, and machines that are named like their instances', () => {
  const flexible = resources.filter(isFlexibleSet).map(({ id }) => id);
  expect(flexible).toContain(setId('flex'));
  expect(names).toEqual(expect.arrayContaining(['flex_evil0000', 'agents_evil0000']));
});
