import type { PlaceRequest } from '../../../src/auth-methods/cloudb/decision/named-place.ts';
import { flexible, machine, other, type Row, set, web1 } from './row.ts';
import {
  arcId,
  bare,
  groupOfEveryone,
  otherSubscription,
  setId,
  siteId,
  slotId,
  subscription,
  systemToken,
  type TokenClaims,
  userToken,
} from './world.ts';

/** The kinds of identities, each with a login that its token proves. */
export const kinds: readonly {
  kind: string;
  token: TokenClaims;
  request: PlaceRequest;
  scaleSet?: string;
}[] = [
  { kind: 'machine, system-assigned', token: systemToken(web1), request: machine('web-1') },
  { kind: 'machine, user-assigned', token: userToken(web1), request: machine('web-1') },
  { kind: 'machine without claims', token: bare(systemToken(web1)), request: machine('web-1') },
  { kind: 'machine by ID', token: systemToken(web1), request: other(web1) },
  {
    kind: 'uniform set, system-assigned',
    token: systemToken(setId('agents')),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set, user-assigned',
    token: userToken(setId('agents')),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set without claims',
    token: bare(systemToken(setId('agents'))),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set by ID',
    token: userToken(setId('agents')),
    request: other(setId('agents')),
    scaleSet: 'agents',
  },
  {
    kind: 'set from before orchestration modes',
    token: userToken(setId('old')),
    request: set('old'),
    scaleSet: 'old',
  },
  { kind: 'flexible set, user-assigned', token: userToken(flexible), request: set('flex'), scaleSet: 'flex' },
  {
    kind: 'instance of a flexible set by its name',
    token: systemToken(flexible),
    request: machine('flex_a1b2c3d4'),
    scaleSet: 'flex',
  },
  {
    kind: 'instance of a flexible set by its ID',
    token: userToken(flexible),
    request: other(flexible),
  },
  { kind: 'other resource, system-assigned', token: systemToken(siteId), request: other(siteId) },
  { kind: 'other resource, user-assigned', token: userToken(siteId), request: other(siteId) },
  { kind: 'other resource without claims', token: bare(systemToken(siteId)), request: other(siteId) },
  { kind: 'part of another resource', token: systemToken(slotId), request: other(slotId) },
  { kind: 'machine outside of the cloud', token: systemToken(arcId), request: other(arcId) },
];

/** Each kind of identity with each bound alone and with each pair of bounds, of which each matches or does not. */
export const boundRows: readonly Row[] = kinds.flatMap(({ kind, token, request, scaleSet }) => {
  const values: Record<string, [right: string, wrong: string]> = {
    bound_service_principal_ids: [token.oid.toUpperCase(), `${token.oid}0`],
    bound_group_ids: [groupOfEveryone, subscription],
    bound_subscription_ids: [subscription.toUpperCase(), otherSubscription],
    bound_resource_groups: ['RG', 'rg-prod'],
    bound_scale_sets: [(scaleSet ?? 'no set').toUpperCase(), `${scaleSet}-2`],
    bound_locations: ['West US', 'westus2'],
  };
  const fields = Object.keys(values);
  const singles = fields.map((field) => [field]);
  const pairs = fields.flatMap((one, index) => fields.slice(index + 1).map((two) => [one, two]));
  return [...singles, ...pairs].flatMap((chosen) =>
    combinations(chosen).map((matches): Row => {
      const role = Object.fromEntries(
        chosen.map((field, index) => [field, [values[field]![matches[index] ? 0 : 1]]]),
      );
      const failed = chosen.find(
        (field, index) => !matches[index] || (field === 'bound_scale_sets' && scaleSet === undefined),
      );
      const refused = chosen.join() === 'bound_locations' ? 'admits nobody' : failed;
      const described = chosen.map((field, index) => `${matches[index] ? '' : 'another '}${field}`);
      return {
        name: `of ${kind} with ${described.join(', ')}`,
        role,
        token,
        request,
        ...(refused ? { refused } : {}),
      };
    }),
  );
});

/** Every combination of matching and not matching. */
function combinations(of: readonly unknown[]): boolean[][] {
  const none: boolean[][] = [[]];
  return of.reduce<boolean[][]>(
    (found) => found.flatMap((some) => [true, false].map((one) => [...some, one])),
    none,
  );
}
