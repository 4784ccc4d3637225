import { z } from 'zod';
import { startSandbox } from './sandbox.ts';

const Env = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(7010),
  DATA_FILE: z.string().min(1).optional(),
});

const { HOST: host, PORT: port, DATA_FILE: dataFile } = Env.parse(process.env);
const sandbox = await startSandbox({ host, port, ...(dataFile === undefined ? {} : { dataFile }) });
console.log(`ready ${sandbox.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await sandbox.stop();
    process.exit(0);
  });
}
