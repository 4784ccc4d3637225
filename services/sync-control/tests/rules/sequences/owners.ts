import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { testCaller } from '@secrets/http/testing';
import type { Model } from './model.ts';
import { type OwnerRequest, ownerCount, type Rights, rightsOf } from './operations.ts';

const policyOf = (owner: number): string => `p${owner}`;

/** Those who write rules: the first one is a token without an entity, the others are entities. */
export class Owners {
  readonly #db: Db;
  readonly #model: Model;
  readonly #callers: Caller[] = [];

  constructor(db: Db, model: Model) {
    this.#db = db;
    this.#model = model;
  }

  async create(): Promise<void> {
    for (let owner = 0; owner < ownerCount; owner += 1) {
      const id = randomUUID();
      const policies = [policyOf(owner)];
      const identity =
        owner === 0 ? { entityId: null, accessor: id, policies } : { entityId: id, policies: ['unused'] };
      this.#callers.push(
        testCaller({ ...identity, grants: ['create', 'read', 'update', 'patch', 'delete'] }),
      );
      await this.#grant(owner, 'all');
      if (owner > 0)
        await this.#db.query(
          "insert into login.entities (id, namespace_id, name, policies) values ($1, 'root', $2, $3)",
          [id, `e-${id}`, policies],
        );
      await this.#enable(owner, true);
    }
  }

  caller(owner: number): Caller {
    return this.#callers[owner]!;
  }

  async request(request: OwnerRequest): Promise<void> {
    if (request.act === 'rights') await this.#grant(request.owner, request.rights);
    else await this.#enable(request.owner, request.act === 'enable');
  }

  async #grant(owner: number, rights: Rights): Promise<void> {
    await this.#db.query(
      `insert into login.policies (namespace_id, name, source, rules) values ('root', $1, '', $2::jsonb)
       on conflict (namespace_id, name) do update set rules = excluded.rules`,
      [policyOf(owner), JSON.stringify({ paths: rightsOf[rights] })],
    );
    this.#model.owners[owner]!.rights = rights;
  }

  async #enable(owner: number, isEnabled: boolean): Promise<void> {
    const { entityId, accessor, policies } = this.caller(owner);
    if (entityId !== null)
      await this.#db.query('update login.entities set disabled = $2 where id = $1', [entityId, !isEnabled]);
    else if (isEnabled)
      await this.#db.query(
        `insert into login.tokens (hash, accessor, namespace_id, policies, display_name, creation_path, renewable, ttl_seconds)
         values ($1, $2, 'root', $3, 'owner', '', false, 0) on conflict (accessor) do nothing`,
        [Buffer.from(accessor!), accessor, policies],
      );
    else await this.#db.query('delete from login.tokens where accessor = $1', [accessor]);
    this.#model.owners[owner]!.isEnabled = isEnabled;
  }
}
