import { readConfig, withFiles } from '@secrets/config';
import { openPostgres } from '@secrets/db';
import { type KeyServiceSettings, openKeyServices } from '@secrets/key-service';
import { openKeyFile } from '@secrets/seal';
import { createLogger } from '@secrets/telemetry';
import { runBackup, runRestore, runVerifyBackup } from './backup/commands.ts';
import { prepareBroker } from './broker/prepare-broker.ts';
import { BrokerEnv, DatabaseEnv, KeysEnv, RecoverEnv, RowsEnv, SealKeysEnv } from './config.ts';
import { bindRows, checkRows } from './database/check-rows.ts';
import { prepareDatabase } from './database/prepare-database.ts';
import { recover } from './database/recover.ts';
import { recoveryPlace } from './database/recovery-place.ts';
import { createCertificates } from './keys/certificates/create-certificates.ts';
import { createKeys } from './keys/create-keys.ts';
import { readBrokerPasswords, readRolePasswords } from './keys/installation.ts';
import { sealKeys } from './keys/seal-keys.ts';
import { parseSealKeysArguments } from './keys/seal-keys-arguments.ts';
import { runCheckStandby } from './standby/command.ts';

const openRowKeys = (env: KeyServiceSettings, file: string) => openKeyFile(file, openKeyServices(env).unwrap);

const log = createLogger({ service: 'setup', level: process.env.LOG_LEVEL ?? 'info' });

/**
 * The commands of this program: `node main.ts keys`, then `node main.ts database` and `node main.ts broker`. `rows` changes
 * nothing; with the ID of a row key, it also lists what this key binds. `bind` takes the digest that `rows` has logged. `recover`
 * creates a root token for an operator who has no other way in. `backup` writes an encrypted archive of the database, `restore`
 * reads it, and `verify-backup` tries that (docs/operations/backup.md). `check-standby` checks whether a standby could take over
 * (docs/operations/standby-region.md). `seal-keys` changes how the keys of key files are stored: wrapped by a key service, or
 * not.
 */
const commands: Record<string, () => Promise<void>> = {
  keys: async () => {
    const env = readConfig(KeysEnv, process.env);
    const { folders } = createKeys(env);
    const certificates = env.INTERNAL_TLS ? { certificates: await createCertificates(env) } : {};
    log.info({ folders, ...certificates }, 'key files are ready');
  },
  'seal-keys': async () => {
    const request = parseSealKeysArguments(process.argv.slice(3));
    const changes = await sealKeys(request, openKeyServices(readConfig(SealKeysEnv, process.env)));
    for (const change of changes)
      log.info(change, request.isDry ? 'would change the file' : 'the file is ready');
  },
  database: async () => {
    const env = readConfig(DatabaseEnv, withFiles(process.env));
    const passwords = readRolePasswords(env.SETUP_DIR);
    const db = openPostgres({ url: env.DATABASE_URL, connections: 1, applicationName: 'setup' });
    await prepareDatabase(db, passwords, log).finally(db.close);
    log.info('schemas and roles are ready');
  },
  broker: async () => {
    const env = readConfig(BrokerEnv, withFiles(process.env, ['BROKER_URL']));
    await prepareBroker(env.BROKER_URL, readBrokerPasswords(env.SETUP_DIR), log);
    log.info('users and queues are ready');
  },
  rows: async () => {
    const env = readConfig(RowsEnv, withFiles(process.env));
    const db = openPostgres({ url: env.DATABASE_URL, connections: 1, applicationName: 'setup' });
    const counts = await checkRows(db, await openRowKeys(env, env.ROW_KEY_FILE), {
      listedKey: process.argv[3],
      onListed: (row) => log.warn(row, 'a row that decides about access is not as it should be'),
    }).finally(db.close);
    log.info(counts, 'every row that decides about access was checked');
  },
  recover: async () => {
    const env = readConfig(RecoverEnv, withFiles(process.env));
    const place = recoveryPlace(env);
    const db = openPostgres({ url: place.databaseUrl, connections: 1, applicationName: 'setup' });
    const rowKeys = await openRowKeys(env, place.rowKeyFile);
    const created = await recover(db, { file: place.file, rowKeys }).finally(db.close);
    log.warn({ ...created, file: place.file }, 'created a root token for an hour');
  },
  backup: () => runBackup(process.env, log),
  restore: () => runRestore(process.env, log),
  'verify-backup': () => runVerifyBackup(process.env, log),
  'check-standby': () => runCheckStandby(process.env, log),
  bind: async () => {
    const env = readConfig(RowsEnv, withFiles(process.env));
    const db = openPostgres({ url: env.DATABASE_URL, connections: 1, applicationName: 'setup' });
    const rowKeys = await openRowKeys(env, env.ROW_KEY_FILE);
    const count = await bindRows(db, rowKeys, process.argv[3] ?? '').finally(db.close);
    log.info({ count, key: rowKeys.current.id }, 'stored the hashes of the rows that had none');
  },
};

// The first process of a container ignores signals that it does not handle.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

const name = process.argv[2] ?? '';
const command = commands[name];
try {
  if (command === undefined) throw new Error(`usage: main.ts ${Object.keys(commands).join('|')}`);
  await command();
} catch (error) {
  log.fatal({ error }, 'setup failed');
  process.exitCode = 1;
}
