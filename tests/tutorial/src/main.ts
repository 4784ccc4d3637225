import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { notesKvDriver } from './driver.ts';

await runWorker('sync-worker-notes-kv', Env, (env) => notesKvDriver({ endpointUrl: env.NOTES_ENDPOINT_URL }));
