import { randomBytes } from 'node:crypto';
import { type Capability, parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import {
  type AccessRequest,
  type Authenticator,
  createAuthenticator,
  type Decision,
} from '../src/authenticator.ts';
import type { Operation } from '../src/paths/operation.ts';
import type { PathRule } from '../src/policies/rules/policy-rules.ts';
import type { BuiltInLimits } from '../src/rate-limits/rate-limits.ts';
import { insertToken, type TokenForTest, writePolicy } from '../src/testing.ts';
import { type BatchToken, batchTokenKeyRing, sealBatchToken } from '../src/tokens/token.ts';

export const allowed = 'allowed';
export const denied = 'denied';

/** `<path> <capability> <capability>; <path> <capability>`, or rules by their paths. */
export type Policy = string | Record<string, Capability[] | Omit<PathRule, 'path'>>;

/** `allowed`, `denied` for the refusal that says nothing, or else the kind and the first sentence of the problem. */
function verdictOf(decision: Decision): string {
  if (decision.allowed) return allowed;
  const text = `${decision.problem.kind}: ${decision.problem.sentences[0]}`;
  return text === 'forbidden: permission denied' ? denied : text;
}

const rulesOf = (policy: string): Record<string, Capability[]> =>
  Object.fromEntries(
    policy
      .split('; ')
      .filter((rule) => rule !== '')
      .map((rule) => rule.split(' ') as [string, ...Capability[]])
      .map(([path, ...capabilities]) => [path, capabilities]),
  );

const verbs: Record<string, Operation> = {
  ...{ GET: 'read', LIST: 'list', POST: 'create-or-update', PATCH: 'patch', DELETE: 'delete' },
};

/**
 * A database with the namespaces `team` (n1), `team/inner` (n2) and `other` (n3), and the auth mount `cloudB` in root
 * and `team`.
 */
export class AccessForTest {
  readonly db: Db;
  readonly keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
  now = Date.now();
  /** Statements of the authenticators since it was emptied. */
  statements: string[] = [];
  #policies = 0;

  constructor(db: Db) {
    this.db = db;
  }

  newAuthenticator(limits?: BuiltInLimits): Authenticator {
    const query: Db['query'] = (text, params) => {
      this.statements.push(text);
      return this.db.query(text, params);
    };
    return createAuthenticator({ db: { ...this.db, query }, keys: this.keys, limits, clock: () => this.now });
  }

  /** Returns the number of statements that contain a text. */
  count(text: string): number {
    return this.statements.filter((statement) => statement.includes(text)).length;
  }

  async token(over: Partial<TokenForTest> = {}): Promise<string> {
    return (await insertToken(this.db, over)).token;
  }

  /** A token with a policy of its own. */
  async tokenWith(policy: Policy, namespaceId = 'root'): Promise<string> {
    const name = `policy ${++this.#policies}`;
    await this.policy(name, policy, namespaceId);
    return this.token({ policies: [name], namespaceId });
  }

  policy(name: string, policy: Policy, namespaceId = 'root'): Promise<void> {
    return writePolicy(this.db, name, typeof policy === 'string' ? rulesOf(policy) : policy, namespaceId);
  }

  batchToken(over: Partial<BatchToken> = {}): string {
    return sealBatchToken(batchTokenKeyRing(this.keys), {
      accessor: null,
      namespace_id: 'root',
      policies: ['reader'],
      display_name: 'job',
      entity_id: null,
      metadata: {},
      creation_path: 'auth/token/create',
      created_at: new Date(this.now).toISOString(),
      expires_at: new Date(this.now + 60_000).toISOString(),
      bound_cidrs: [],
      parent_accessor: null,
      mount_id: null,
      ...over,
    }).reveal();
  }

  /** Decides on a request, such as `GET kv/data/a`. */
  decide(
    request: string,
    over: Partial<AccessRequest> = {},
    authenticator = this.newAuthenticator(),
  ): Promise<Decision> {
    const [verb, path] = request.split(/ (.*)/s) as [string, string];
    return authenticator.authenticate({
      ...{ token: undefined, namespace: undefined, remoteAddress: '10.0.0.1', requestId: 'r' },
      ...{ operation: verbs[verb]!, path, ...over },
    });
  }

  async verdict(...request: Parameters<AccessForTest['decide']>): Promise<string> {
    return verdictOf(await this.decide(...request));
  }

  /** Where a request takes place, such as `team: kv/data/a`, or the verdict if it is refused. */
  async place(...request: Parameters<AccessForTest['decide']>): Promise<string> {
    const decision = await this.decide(...request);
    return decision.allowed ? `${decision.caller.namespace.path}: ${decision.path}` : verdictOf(decision);
  }
}

export async function openAccessForTest(): Promise<AccessForTest> {
  const db = await openTestDb();
  await db.query(
    "insert into login.namespaces (id, path) values ('n1', 'team'), ('n2', 'team/inner'), ('n3', 'other')",
  );
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1'), ('n1', 'cloudB', 'cloudB', 'a2')",
  );
  return new AccessForTest(db);
}
