import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '../../libs/db/src/index.ts';
import { eventually } from '../harness/eventually.ts';
import { client } from '../harness/http.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { RetryingClient } from './load/retrying-client.ts';

const kills = 4;
const issued = 5_000;

/** Tokens whose texts are `sst_`, a letter and a number. Those of the mount that is disabled, and their children: */
const doomed = { tokens: 'd', children: 'c' };
/** Those of another mount: */
const kept = { tokens: 'k', children: 'l' };
const textOf = (letter: string, n: number) => `sst_${`${letter}${n}`.padStart(43, '0')}`;
const anyOf = (letter: string) => textOf(letter, 1 + Math.floor(Math.random() * 1_000));

/** Pages take longer, so that a kill meets one, or the time between two. */
const slowPages = `
  create function login.slow_page() returns trigger language plpgsql as $$
  begin
    perform pg_sleep(0.3 + random() * 0.3);
    return null;
  end $$;
  create trigger slow_page after delete on login.tokens for each statement execute function login.slow_page()`;

const define = (suite: Suite) => {
  let db: Db;
  let api: RetryingClient['request'];

  beforeAll(async () => {
    db = openPostgres({ url: suite.system.postgres.url, connections: 2 });
    api = new RetryingClient(suite.system).request;
    await db.transaction((tx) => tx.script(slowPages));
    await issueTokens('doomed', doomed, issued);
    await issueTokens('kept', kept, 1_000);
  });
  afterAll(() => db?.close());

  /** Enables a mount, and stores tokens, of which 1,000 have a child, and 500 entities as if it had issued them. */
  async function issueTokens(mount: string, { tokens, children }: typeof doomed, count: number) {
    await api('POST', `sys/auth/${mount}`, { type: 'cloudB' });
    await db.query(
      `with mount as (select id from login.auth_mounts where path = $1), alias as (
         insert into login.entity_aliases (mount_id, name, entity_id) select id, n::text, md5($1 || n)::uuid from mount, generate_series(0, 499) n
         returning entity_id)
       insert into login.entities (id, namespace_id) select entity_id, 'root' from alias`,
      [mount],
    );
    const insert = (letter: string, parent: string, mountId: string, number: number) =>
      db.query(
        `insert into login.tokens (hash, accessor, parent_accessor, mount_id, namespace_id, display_name, creation_path, policies, renewable,
           ttl_seconds, expires_at, entity_id)
         select sha256(convert_to('sst_' || lpad($1 || n, 43, '0'), 'UTF8')), $1 || n, ${parent}, ${mountId}, 'root', '', '', '{default}',
           true, 3600, now() + interval '1 h', md5($2 || n % 500)::uuid from generate_series(1, $3) n`,
        [letter, mount, number],
      );
    await insert(tokens, 'null', '(select id from login.auth_mounts where path = $2)', count);
    await insert(children, `'${tokens}' || n`, 'null', 1_000);
  }

  const count = async (what: string) =>
    (await db.query<{ count: number }>(`select count(*)::int as count from ${what}`))[0]!.count;
  const left = () => count(`login.tokens where accessor ~ '^[${doomed.tokens}${doomed.children}][0-9]+$'`);
  const statusOf = async (text: string) =>
    (await client(suite.system.url, text)('GET', 'auth/token/lookup-self')).status;

  /** Uses tokens all the time. Those of the other mount may find login dead, but are never refused. */
  function useTokens() {
    const seen = { requests: 0, wronglyAccepted: 0, wronglyRefused: 0 };
    let isOver = false;
    const work = (async () => {
      while (!isOver) {
        const statuses = (letters: typeof doomed) =>
          Promise.all(Object.values(letters).map((letter) => statusOf(anyOf(letter))));
        const [ofDoomed, ofKept] = await Promise.all([statuses(doomed), statuses(kept)]);
        seen.requests += ofDoomed.length + ofKept.length;
        seen.wronglyAccepted += ofDoomed.filter((status) => status !== 403).length;
        seen.wronglyRefused += ofKept.filter((status) => status === 403).length;
      }
    })();
    return async () => {
      isOver = true;
      await work;
      return seen;
    };
  }

  test('login, killed while it deletes the tokens of a disabled mount: all are refused, deleted in the end, and no others are', async () => {
    const { login } = suite.system.processes;
    for (const letter of Object.values({
      ...doomed,
      tokensOfOther: kept.tokens,
      childrenOfOther: kept.children,
    }))
      expect(await statusOf(anyOf(letter))).toBe(200);
    await api('DELETE', 'sys/auth/doomed');
    const stopUsing = useTokens();
    const leftAfterKills = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const enough = issued * (1 - (kill + Math.random()) / (kills + 1));
      await eventually(left, (number) => number <= enough, 30_000);
      await login.kill();
      leftAfterKills.push(await left());
      await login.start();
    }
    await eventually(
      async () => (await left()) + (await count('login.removed_owners')),
      (rest) => rest === 0,
      60_000,
    ); // children follow as expired tokens
    const { requests, ...wrong } = await stopUsing();
    suite.note(
      `killed ${kills} times; tokens left after each kill: ${leftAfterKills}; ${requests} uses of tokens meanwhile`,
    );
    expect(wrong).toEqual({ wronglyAccepted: 0, wronglyRefused: 0 });
    expect(new Set(leftAfterKills.filter((number) => number > 0)).size).toBeGreaterThan(1);
    expect(await count(`login.tokens where accessor ~ '^[${kept.tokens}${kept.children}][0-9]+$'`)).toBe(
      2_000,
    );
    expect(await count('login.entities')).toBe(500);
    expect(await count('login.entity_aliases')).toBe(500);
    for (const letter of Object.values(kept)) expect(await statusOf(anyOf(letter))).toBe(200);
  });
};

await describeDistributed('cleanup of the tokens of a disabled mount', define, {
  env: { TOKEN_SWEEP_SECONDS: '1', ROW_KEY_FILE: '' }, // tokens are inserted without login
  isLong: true,
});
