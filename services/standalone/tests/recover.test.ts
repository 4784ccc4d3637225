import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { startStandaloneForTest, withFolder } from './standalone-for-test.ts';

const program = fileURLToPath(new URL('../../setup/src/main.ts', import.meta.url));

/** Runs the command with an environment of its own. Rejects, with its log, if it fails. */
const recover = (env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [program, 'recover'], { env, timeout: 60_000 });

const ofDatabase: Record<string, (url: string) => Record<string, string>> = {
  embedded: () => ({}),
  separate: (DATABASE_URL) => ({ DATABASE_URL }),
};

let db: TestDb;
beforeEach(async () => {
  db = await createTestDb();
});
afterEach(() => db.close());

describe.each(Object.keys(ofDatabase))('recover, with the %s database of a running service', (kind) => {
  test('lets an operator in whose root token is gone, twice, and leaves traces in the audit log', () =>
    withFolder(async (folder) => {
      const env = { ...ofDatabase[kind]!(db.url), DATA_DIR: folder };
      const standalone = await startStandaloneForTest({ ...env, SANDBOX: 'off' });
      const call = async (token: string, path: string, method = 'GET') => {
        const headers = { 'x-service-token': token };
        return fetch(`${standalone.url}/v1/${path}`, { method, headers });
      };
      const status = async (token: string) => (await call(token, 'auth/token/lookup-self')).status;
      try {
        const root = (await readFile(standalone.rootTokenFile, 'utf8')).trim();
        expect((await call(root, 'auth/token/revoke-self', 'POST')).status).toBe(204);
        expect(await status(root)).toBe(403);
        const tokens: string[] = [];
        for (const RECOVERY_FILE of [join(folder, 'first'), join(folder, 'second')]) {
          const { stdout } = await recover({ ...env, RECOVERY_FILE });
          expect((await stat(RECOVERY_FILE)).mode & 0o777).toBe(0o600);
          const token = (await readFile(RECOVERY_FILE, 'utf8')).trim();
          expect(stdout).not.toContain(token);
          expect(stdout).toContain('created a root token for an hour');
          expect(await status(token)).toBe(200);
          tokens.push(token);
        }
        expect(await status(tokens[0]!)).toBe(403);
        expect(await status(tokens[1]!)).toBe(200);
        const audit = await readFile(join(folder, 'audit.log'), 'utf8');
        expect(audit).toContain('"display_name":"recovery"');
        for (const token of tokens) expect(audit).not.toContain(token);
      } finally {
        await standalone.stop();
      }
    }));
});

test('recover names what is missing', () =>
  withFolder(async (folder) => {
    await expect(recover({ DATA_DIR: folder })).rejects.toMatchObject({
      stdout: expect.stringMatching(/row\.key, the row key of login, does not exist; set ROW_KEY_FILE/),
    });
    await expect(recover({ DATA_DIR: folder, ROW_KEY_FILE: program })).rejects.toMatchObject({
      stdout: expect.stringMatching(/no database runs in .*: start the service, or set DATABASE_URL/),
    });
  }));
