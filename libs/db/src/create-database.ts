// Runs as a worker thread: makes an empty database in a folder and ends. Making one takes twice the memory of running
// one, and a thread gives it back.
import { workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

const database = await PGlite.create({ dataDir: workerData.dataDir });
await database.close();
