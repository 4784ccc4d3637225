import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { client } from '../../harness/http.ts';
import { checkAssociations } from '../check/histories/associations.ts';
import { auditedOutcomes, checkAudit } from '../check/histories/audit.ts';
import { checkTokens } from '../check/histories/tokens.ts';
import { checkVersions, type FinalVersions } from '../check/histories/versions.ts';
import { checkLeases } from '../check/leases.ts';
import { checkOverlaps, type ServedCall, type Standstill } from '../check/overlaps.ts';
import { checkRules } from '../check/rules/acknowledged.ts';
import type { Observed } from '../check/settled.ts';
import { type Operation, ofKind } from '../load/operation.ts';
import { isTouched, keysOf, mount, type World } from '../load/world.ts';
import type { Stage } from '../stage/stage.ts';
import { leaseChanges } from './lease-log.ts';
import { filesContaining, spellingsOf } from './search.ts';

/** Observations that contradict the guarantees, by the check that found them. */
export type Violations = Record<string, string[]>;

interface Evidence {
  stage: Stage;
  world: World;
  history: readonly Operation[];
  errorBodies: ReadonlySet<string>;
  standstills: readonly Standstill[];
  observed: Observed;
}

const leaseMs = 5_000;

/** Checks the history against what the service, the stores and the files show after it has settled. */
export async function checkHistory(evidence: Evidence): Promise<Violations> {
  const { stage, world, history, observed } = evidence;
  const destinations = await existingDestinations(world);
  const associations = new Set(observed.associations.map(({ destination, key }) => `${destination} ${key}`));
  const cycled = world.cycled.map(({ id }) => id);
  return {
    'versions of secrets': checkVersions(history, await finalVersions(world)),
    'revoked tokens': [...checkTokens(history), ...(await revokedAlive(world, history))],
    associations: checkAssociations(history, cycled, { associations, destinations }),
    rules: observed.ruled === null ? [] : checkRules(history, observed.ruled),
    'worked on twice at once': checkOverlaps(await servedCalls(evidence), evidence.standstills, leaseMs),
    leases: checkLeases(await leaseChanges(stage.system.postgres.url)),
    'audit log': checkAudit(history, auditOf(stage)),
    'secrets in clear text': canaries(evidence),
    'processes that ended by themselves': endedProcesses(stage),
  };
}

async function existingDestinations({ cycled, api, gateways, rootToken }: World): Promise<Set<string>> {
  await api('GET', 'sys/sync/config');
  const ask = client(gateways[0]!.url, rootToken);
  const found = await Promise.all(cycled.map(async ({ id, path }) => ({ id, ...(await ask('GET', path)) })));
  return new Set(found.filter(({ status }) => status === 200).map(({ id }) => id));
}

/** Every version of every secret, with its value. */
export async function finalVersions(world: World): Promise<Map<string, FinalVersions>> {
  const ask = client(world.gateways[0]!.url, world.rootToken);
  const readKey = async (key: string): Promise<[string, FinalVersions]> => {
    const { body } = await ask('GET', `${mount}/metadata/${key}`);
    const versions = new Map<number, string>();
    for (const version of Object.keys(body.data.versions)) {
      const read = await ask('GET', `${mount}/data/${key}?version=${version}`);
      if (read.status === 200) versions.set(Number(version), read.body.data.data.value);
    }
    return [key, versions];
  };
  return new Map(await Promise.all(keysOf(world).map(readKey)));
}

/** Tries the tokens again whose revocation was acknowledged, at each gateway. */
async function revokedAlive({ gateways }: World, history: readonly Operation[]): Promise<string[]> {
  const revoked = ofKind(history, 'revoke').filter(({ outcome }) => outcome === 'ok');
  const tokens = [...new Set(revoked.map(({ token }) => token))];
  const alive: string[] = [];
  for (const token of tokens)
    for (const { name, url } of gateways) {
      const { status } = await client(url, token)('GET', 'auth/token/lookup-self');
      if (status !== 403) alive.push(`${name} answered a revoked token with ${status} in the end`);
    }
  return alive;
}

/** Without those for touched external secrets: a look needs no lease, so two may overlap. */
async function servedCalls({ stage, world }: Evidence): Promise<ServedCall[]> {
  const processes = new Map(
    Object.keys(stage.system.processes).map((name) => [stage.links.addressOf(name), name]),
  );
  const all = sandboxTypes.map(async ({ type }) =>
    (await world.sandbox.calls(type)).flatMap(({ operation, name, peer, began, at, concurrent }) =>
      name === undefined || isTouched(name)
        ? []
        : {
            ...{ store: type, operation, name, process: processes.get(peer?.replace('::ffff:', '')) },
            ...{ began: Date.parse(began), ended: Date.parse(at), isConcurrent: concurrent !== undefined },
          },
    ),
  );
  return (await Promise.all(all)).flat();
}

function auditOf({ disks }: Stage): Map<string, Set<string>> {
  const files = [...disks].map(([gateway, { folder }]): [string, string] => [
    gateway,
    join(folder, gateway === 'gateway' ? 'audit.log' : 'audit-2.log'),
  ]);
  return new Map(files.map(([gateway, file]) => [gateway, auditedOutcomes(readFileSync(file, 'utf8'))]));
}

/** Files that hold keys or what the stores hold. */
const holdsSecrets = (name: string): boolean => /^(root-token|sandbox)/.test(basename(name));

/** Searches logs, audit logs, the data of both servers and the bodies of errors for secret values and tokens. */
function canaries({ stage: { system, disks }, world, history, errorBodies }: Evidence): string[] {
  const tokens = ofKind(history, 'login').flatMap(({ token }) => token ?? []);
  const wanted = [world.canary, world.rootToken, ...tokens.slice(0, 20)].flatMap(spellingsOf);
  const folders = [system.folder, ...[...disks.values()].map(({ folder }) => folder)];
  const servers = [system.postgres.folder, system.rabbit.folder].filter((folder) => folder !== undefined);
  const found = [...folders, ...servers].flatMap((folder) => filesContaining(folder, wanted, holdsSecrets));
  const inErrors = [...errorBodies].filter((body) => wanted.some((one) => body.includes(one.toString())));
  return [
    ...found.map((file) => `${file} contains a secret`),
    ...inErrors.map(() => 'an error contains a secret'),
  ];
}

const endedProcesses = ({ system }: Stage): string[] =>
  Object.values(system.processes).flatMap(({ name, unexpectedEnds }) =>
    unexpectedEnds.map((lastWords) => `${name}: ${lastWords.slice(-400)}`),
  );
