import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isLongRun, longTest } from '../harness/run-size.ts';
import { type DescribedInstallation, startDescribed } from './described-installation.ts';

// https://pypi.org/project/schemathesis; more cases for each operation with: EXAMPLES=100 npm test -- tests/openapi/schemathesis
const version = '4.32.5';
const examples = process.env.EXAMPLES ?? '3';
const maxMs = 30 * 60_000;
const folder = fileURLToPath(new URL('../../node_modules/.cache/schemathesis', import.meta.url));
const program = `${folder}/bin/schemathesis`;

/** Why it cannot run; undefined if it is installed. */
function whyMissing(): string | undefined {
  if (existsSync(program)) return undefined;
  const steps = [
    ['python3', '-m', 'venv', folder],
    [`${folder}/bin/pip`, 'install', '--quiet', `schemathesis==${version}`],
  ];
  for (const [command = '', ...args] of steps) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 240_000 });
    if (status !== 0) return error?.message ?? stderr.trim().split('\n').at(-1);
  }
  return undefined;
}

const missing = isLongRun ? whyMissing() : undefined;
if (missing !== undefined) console.log(`not run: schemathesis: ${missing}`);
const ifInstalled = missing === undefined ? longTest : test.skip;

let described: DescribedInstallation | undefined;
beforeAll(async () => {
  if (isLongRun && missing === undefined) described = await startDescribed();
});
afterAll(() => described?.system.stop());

ifInstalled(
  'responses to requests that schemathesis draws are as the document describes them',
  () => {
    const { url, rootToken } = described!.system;
    const { status, stdout, stderr } = spawnSync(
      program,
      [
        ...['run', `${url}/v1/sys/internal/specs/openapi`, '--header', `X-Service-Token: ${rootToken}`],
        ...[
          '--checks',
          'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance',
        ],
        ...[
          '--phases',
          'fuzzing',
          '--mode',
          'positive',
          '--max-examples',
          examples,
          '--generation-deterministic',
        ],
        ...[
          '--request-timeout',
          '30',
          '--continue-on-failure',
          '--suppress-health-check',
          'all',
          '--no-color',
        ],
        // They would remove what the other requests need, or report what another system answers (502).
        ...['--exclude-method', 'DELETE', '--exclude-path-regex', 'revoke|rotate-root|quotas|sync/events'],
        ...['--warnings', 'off'],
      ],
      // It keeps a cache in the working directory.
      { cwd: folder, encoding: 'utf8', timeout: maxMs, maxBuffer: 64 * 1_024 * 1_024 },
    );
    expect([status, status === 0 ? '' : `${stdout}${stderr}`.slice(-20_000)]).toEqual([0, '']);
  },
  maxMs + 20_000,
);
