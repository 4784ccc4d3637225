import { commaList, toggle } from '@secrets/config';
import { keyServiceEnv } from '@secrets/service';
import { z } from 'zod';

/** The embedded database in `DATA_DIR`, unless `DATABASE_URL` is set. */
const database = {
  /** With the name and password of the database's owner. */
  DATABASE_URL: z.string().min(1).optional(),
  DATA_DIR: z.string().min(1).default('./.data'),
};

const passphrase = z.string().min(1).optional();

/** The environment of `backup`. */
export const BackupEnv = z.object({
  ...database,
  /** A new file. By default, one in `BACKUP_DIR` that is named after the time. */
  BACKUP_FILE: z.string().min(1).optional(),
  BACKUP_DIR: z.string().min(1).default('.'),
  /** The number of archives to keep in the folder, of those named after the time. */
  BACKUP_KEEP: z.coerce.number().int().min(1).optional(),
  /** Public keys of age. */
  BACKUP_RECIPIENTS: commaList.default([]),
  BACKUP_PASSPHRASE: passphrase,
  /** Files of settings to add, such as `.env`. */
  BACKUP_SETTINGS_FILES: commaList.default([]),
});

/** The environment of `restore` and `verify-backup`. */
export const RestoreEnv = z.object({
  ...database,
  BACKUP_FILE: z.string().min(1),
  /** Private keys of age, one per line. */
  BACKUP_IDENTITY: z.string().min(1).optional(),
  BACKUP_PASSPHRASE: passphrase,
  /** The seal keys of login, secrets and sync-control; by default, the one in `DATA_DIR`. */
  SEAL_KEY_FILES: commaList.optional(),
  /** The row key of login; by default, the one in `DATA_DIR`. */
  ROW_KEY_FILE: z.string().min(1).optional(),
  ...keyServiceEnv,
  /** Whether `restore` deletes what the database has. */
  RESTORE_REPLACES: toggle.default(false),
  /** A folder for the files of settings in the archive; by default, they are not unpacked. */
  RESTORE_SETTINGS_DIR: z.string().min(1).optional(),
});
export type RestoreEnv = z.infer<typeof RestoreEnv>;
