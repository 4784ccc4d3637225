import fc from 'fast-check';

/** The tasks that continue what was requested, each a step of a process of sync-control, or of a worker. */
export const tasks = ['relay', 'rules', 'refusals', 'removals', 'destinations', 'reconcile', 'work'] as const;
export type Task = (typeof tasks)[number];

/** A secret by its mount and its path. */
interface At {
  mount: string;
  path: string;
}

/** The settings of a rule. */
export interface Settings {
  mount: string;
  path: string;
  exclude: string[];
  metadata_match: Record<string, string>;
}

/** A request about secrets and mounts. */
export type SecretsRequest =
  /** `rewrite` drops a secret and writes another one in its place, before anything follows the first. */
  | ({ act: 'write' | 'drop' | 'rewrite' } & At)
  | ({ act: 'metadata'; metadata: Record<string, string> } & At)
  | ({ act: 'delete' | 'undelete' | 'destroy'; version: number } & At)
  | { act: 'mount' | 'unmount'; mount: string }
  | { act: 'move'; mount: string; to: string };

/** A request about owners of rules, who are named by number. */
export type OwnerRequest =
  | { act: 'rights'; owner: number; rights: Rights }
  | { act: 'disable' | 'enable'; owner: number };

/** A request about rules, which are named by number, as destinations. */
export type RuleRequest =
  | { act: 'rule'; destination: number; rule: number; owner: number; settings: Settings }
  | { act: 'patch'; destination: number; rule: number; owner: number; settings: Partial<Settings> }
  | { act: 'end'; destination: number; rule: number; keep: boolean };

/** A request about destinations and syncing. */
export type DestinationRequest =
  | ({ act: 'set' | 'remove'; destination: number } & At)
  | { act: 'purge' | 'create'; destination: number }
  | { act: 'replan'; destination: number; template: number }
  | { act: 'syncing'; disabled: boolean }
  | { act: 'queue'; capacity: number | null };

/** A request of a client or an operator. */
export type Request = SecretsRequest | OwnerRequest | RuleRequest | DestinationRequest;

/** A request, a task that may die after a number of statements, or several of these at the same time. */
export type Operation =
  | Request
  | { act: 'task'; task: Task; diesAfter: number | null }
  | { act: 'together'; tasks: { task: Task; diesAfter: number | null }[]; request: Request | null }
  | { act: 'time' }
  | { act: 'settle' };

/** The policies that an owner may have. */
export const rightsOf = {
  all: [{ path: '*', capabilities: ['create', 'read', 'update', 'delete'] }],
  part: [
    { path: 'sys/sync/destinations/*', capabilities: ['update'] },
    { path: '+/data/a/*', capabilities: ['read'] },
  ],
  firstMount: [
    { path: 'sys/sync/destinations/*', capabilities: ['update'] },
    { path: 'm0/data/*', capabilities: ['read'] },
  ],
  readOnly: [{ path: '+/data/*', capabilities: ['read'] }],
  none: [{ path: 'other/*', capabilities: ['read'] }],
} as const;
export type Rights = keyof typeof rightsOf;

export const mounts = ['m0', 'm1', 'm2'];
const paths = ['a/x', 'a/y', 'b/x', 'a'];
export const destinationCount = 2;
export const ownerCount = 3;

// Repeated values are frequent: later operations then affect the secrets and rules of earlier ones.
const mount = fc.constantFrom('m0', 'm0', 'm0', 'm0', 'm1');
const at = { mount, path: fc.constantFrom(...paths) };
const destination = fc.constantFrom(0, 0, 1);
const rule = fc.constantFrom(0, 0, 1);
const owner = fc.nat({ max: ownerCount - 1 });
const version = fc.integer({ min: 1, max: 3 });
const metadata = fc.constantFrom<Record<string, string>[]>(
  {},
  { sync: 'p' },
  { sync: 'p' },
  { sync: 'q' },
  { sync: 'p', team: 't' },
);
const settings = {
  mount,
  path: fc.constantFrom('*', '*', '*', 'a/*', 'a*', '+/x', 'a/x', 'a/+', 'a'),
  exclude: fc.constantFrom<string[][]>([], [], [], ['a/x'], ['+/x'], ['b*']),
  metadata_match: fc.constantFrom<Record<string, string>[]>(
    {},
    {},
    { sync: 'p' },
    { sync: 'p' },
    { sync: 'p', team: 't' },
  ),
};
const act = <Act extends string>(...acts: Act[]) => fc.constantFrom(...acts);

const weighted = <T>(...all: [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const request: fc.Arbitrary<Request> = weighted<Request>(
  [14, fc.record({ act: act('write'), ...at })],
  [8, fc.record({ act: act('metadata'), ...at, metadata })],
  [3, fc.record({ act: act('delete', 'undelete', 'destroy'), ...at, version })],
  [4, fc.record({ act: act('drop', 'rewrite'), ...at })],
  [7, fc.record({ act: act('set'), destination, ...at })],
  [4, fc.record({ act: act('remove'), destination, ...at })],
  [9, fc.record({ act: act('rule'), destination, rule, owner, settings: fc.record(settings) })],
  [
    5,
    fc.record({
      act: act('patch'),
      destination,
      rule,
      owner,
      settings: fc.record(settings, { requiredKeys: [] }),
    }),
  ],
  [4, fc.record({ act: act('end'), destination, rule, keep: fc.boolean() })],
  [
    4,
    fc.record({ act: act('rights'), owner, rights: fc.constantFrom(...(Object.keys(rightsOf) as Rights[])) }),
  ],
  [2, fc.record({ act: act('disable', 'enable'), owner })],
  [1, fc.record({ act: act('purge'), destination })],
  [1, fc.record({ act: act('create'), destination })],
  [1, fc.record({ act: act('unmount', 'mount'), mount })],
  [2, fc.record({ act: act('move'), mount, to: fc.constantFrom(...mounts) })],
  [1, fc.record({ act: act('replan'), destination, template: fc.nat({ max: 1 }) })],
  [1, fc.record({ act: act('syncing'), disabled: fc.boolean() })],
  [2, fc.record({ act: act('queue'), capacity: fc.constantFrom(1, null) })],
);

const task = fc.record({
  task: fc.constantFrom(...tasks, 'relay' as const, 'rules' as const),
  diesAfter: fc.option(fc.nat({ max: 25 }), { freq: 3 }),
});

const operation = weighted<Operation>(
  [50, request],
  [20, task.map((one) => ({ act: 'task' as const, ...one }))],
  [
    10,
    fc.record({
      act: act('together'),
      tasks: fc.array(task, { minLength: 1, maxLength: 2 }),
      request: fc.option<Request>(request, { freq: 3 }),
    }),
  ],
  [4, fc.record({ act: act('time') })],
  [4, fc.record({ act: act('settle') })],
);

/** Secrets and rules, which often come to rest, so that the later operations meet what is associated. */
const beginning = fc
  .tuple(
    fc.array(fc.record({ act: act('write'), ...at }), { minLength: 1, maxLength: 4 }),
    fc.array(fc.record({ act: act('metadata'), ...at, metadata }), { maxLength: 2 }),
    fc.array(fc.record({ act: act('rule'), destination, rule, owner, settings: fc.record(settings) }), {
      minLength: 1,
      maxLength: 2,
    }),
    fc.constantFrom<Operation[][]>([], [{ act: 'settle' }], [{ act: 'settle' }]),
  )
  .map((parts): Operation[] => parts.flat());

export const sequences: fc.Arbitrary<Operation[]> = fc
  .tuple(beginning, fc.array(operation, { minLength: 2, maxLength: 12 }))
  .map((parts) => parts.flat());
