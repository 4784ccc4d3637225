import { createHash } from 'node:crypto';
import { observeCalls } from '../../simulation/observe-calls.ts';
import type { SimulationContext } from '../../simulation/simulation.ts';
import type { SimulatedStore, StoredSecret } from '../simulated-store.ts';
import { changeByHand } from './change-by-hand.ts';
import { generateAppKey } from './credentials/app-key.ts';
import { Callers } from './credentials/callers.ts';
import { type RateLimitOptions, RateLimits } from './credentials/rate-limits.ts';
import { codehostRoutes } from './endpoint/codehost-routes.ts';
import { serveWith } from './endpoint/serve-codehost.ts';
import type { ActionSecret } from './store/action-secret.ts';
import { type CodehostRecord, CodehostStore } from './store/codehost-store.ts';
import { exampleRepositories, fullName, type RepositorySpec } from './store/repository.ts';

const NAME = 'codehost';
const appId = '424242';
const installationId = '7001';

export interface CodehostOptions {
  /** The repositories from the start. Default: `acme/web`, with two environments, `acme/api` and `acme/docs`. */
  repositories?: readonly RepositorySpec[];
  limits?: RateLimitOptions;
  /** The lifetime of an installation's token. Default 3,600, as in the real service. */
  tokenSeconds?: number;
  /** Whether an organization's secret can be written without a value, to change who sees it. Default true. */
  takesAccessAlone?: boolean;
}

export interface Codehost extends SimulatedStore {
  readonly credentials: Readonly<{ accessToken: string; appId: string; installationId: string }>;
  /** The private key of the application: a PEM in the format PKCS#1. */
  generatedCredentials(): Readonly<{ privateKey: string }>;
  /** Replaces the public keys for which values are sealed. Values sealed for the former ones are refused. */
  rotateKeys(): void;
  /** Withdraws the tokens of the installation before they expire. */
  revokeTokens(): void;
  /** Renames an organization; another one may then take its name. */
  renameOrganization(from: string, to: string): void;
  /** Creates an organization with one repository. */
  createOrganization(name: string): void;
  /** Suspends the installation, or ends the suspension. */
  suspend(isSuspended: boolean): void;
}

/** Simulates the action secrets of a code host, with personal tokens and one installed application. */
export function simulateCodehost(simulation: SimulationContext, options: CodehostOptions = {}): Codehost {
  const { seed, now, persist } = simulation;
  const accessToken = `github_pat_${createHash('sha256').update(`codehost token ${seed}`).digest('hex').slice(0, 40)}`;
  const store = new CodehostStore(options.repositories ?? exampleRepositories, persist, now);
  const calls = observeCalls(NAME, now);
  const callers = new Callers([accessToken], now);
  const limits = new RateLimits(options.limits ?? {}, now);
  const { tokenSeconds = 3_600, takesAccessAlone = true } = options;
  const issue = (installation: string) => callers.issue(installation, tokenSeconds);
  const app = { id: appId, installationId, issue };
  const handlerOf = serveWith({
    calls: calls.context,
    callers,
    limits,
    operations: { store, seed, app, takesAccessAlone },
    privateKey: () => appKeyOf(store),
  });
  return {
    ...calls.members,
    path: '/codehost',
    routes: codehostRoutes(handlerOf),
    credentials: { accessToken, appId, installationId },
    generatedCredentials: () => ({ privateKey: appKeyOf(store) }),
    rotateKeys: () => store.change({ keys: store.keyGeneration + 1 }),
    revokeTokens: () => callers.revoke(),
    renameOrganization: (from, to) => store.renameOrganization(from, to),
    createOrganization: (owner) =>
      store.change({ repository: store.repositories.created({ owner, name: '.github' }) }),
    suspend: (suspended) => store.change({ suspended }),
    secrets: () => store.all().map((secret) => storedSecret(store, secret)),
    changeByHand: (change) =>
      changeByHand(store, { change, regionOf: (secret) => labelNow(store, secret) }, now()),
    reset() {
      calls.clear();
      limits.clear();
      store.change({ cleared: true });
    },
    replay: (record) => store.replay(record as CodehostRecord),
    snapshot: () => store.snapshot(),
  };
}

/** Generated with the first use: that takes longer than starting everything else. */
function appKeyOf(store: CodehostStore): string {
  if (store.privateKey === undefined) store.change({ app: { privateKey: generateAppKey() } });
  return store.privateKey ?? '';
}

/** A repository that was renamed is shown under its new name. */
function labelNow({ repositories }: CodehostStore, { scope, label }: ActionSecret): string {
  const [, id] = /^(?:repository|environment) (\d+)/.exec(scope) ?? [];
  const repository = id === undefined ? undefined : repositories.get(Number(id));
  return repository === undefined ? label : label.replace(/^[^,]*/, fullName(repository));
}

function storedSecret(store: CodehostStore, secret: ActionSecret): StoredSecret {
  const { name, value, access, writes, updatedAt } = secret;
  const names = access?.repositoryIds.map((id) => store.repositories.get(id)?.name ?? String(id)) ?? [];
  return {
    name,
    region: labelNow(store, secret),
    value,
    tags: {
      ...(access === undefined ? {} : { visibility: access.visibility }),
      ...(access?.visibility === 'selected' ? { repositories: names.join(', ') } : {}),
    },
    version_count: writes,
    deleted_at: null,
    updated_at: updatedAt,
  };
}
