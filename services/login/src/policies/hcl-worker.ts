import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

// The parser is Go compiled to JavaScript: CommonJS without types.
const { parse } = createRequire(import.meta.url)('js-hcl-parser') as { parse(text: string): string };

parentPort?.postMessage(parse(workerData as string));
