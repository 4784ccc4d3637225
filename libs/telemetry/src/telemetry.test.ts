import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { auditTo, openAudit } from './audit.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';

const lines = () => {
  const written: string[] = [];
  return { written, destination: { write: (line: string) => void written.push(line) } };
};

test('a log line is JSON with service, level name and fields', () => {
  const { written, destination } = lines();
  createLogger({ service: 'secrets', destination }).warn({ attempts: 2 }, 'sync failed');
  expect(JSON.parse(written[0]!)).toMatchObject({
    level: 'warn',
    service: 'secrets',
    attempts: 2,
    msg: 'sync failed',
  });
});

test('masks secret fields that are logged by mistake', () => {
  const { written, destination } = lines();
  const log = createLogger({ service: 'x', destination });
  log.info(
    { value: seal('canary'), body: { jwt: 'canary', deep: { client_secret: 'canary' } }, token: 'canary' },
    'a',
  );
  log.error({ error: Object.assign(new Error('failed'), { response: { body: 'canary' } }) }, 'b');
  log.info({ headers: { authorization: 'canary' } }, 'c');
  expect(written.join()).not.toContain('canary');
  expect(written[1]).toContain('failed');
});

describe('audit', () => {
  const line = {
    request_id: 'r',
    remote_address: '127.0.0.1',
    namespace: '',
    operation: 'read',
    path: 'sys/health',
    accessor: null,
    display_name: null,
    policies: [],
    allowed: false,
    reason: 'permission denied',
  };

  test('a line is written when write resolves; lines of one turn are written together', async () => {
    const written: string[] = [];
    const audit = auditTo((text) => void written.push(text));
    const both = [audit.write(line), audit.write({ ...line, request_id: 's' })];
    expect(written).toEqual([]);
    await Promise.all(both);
    expect(written).toHaveLength(1);
    const [first, second] = written[0]!
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(first).toMatchObject({ ...line, kind: 'audit', time: expect.stringMatching(/^\d{4}-/) });
    expect(second.request_id).toBe('s');
  });

  test('rejects when a line cannot be written, and tries the next one', async () => {
    let full = true;
    const written: string[] = [];
    const audit = auditTo((text) => {
      if (full) throw new Error('no space left');
      written.push(text);
    });
    await expect(audit.write(line)).rejects.toThrow('no space left');
    full = false;
    await audit.write(line);
    expect(written).toHaveLength(1);
  });

  test('creates a file that only its owner can read, and appends to it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log');
    await openAudit(file).write(line);
    await openAudit(file).write(line);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

test('labels metrics with the service', async () => {
  const metrics = createMetrics('secrets', { processMetrics: false });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  expect(await metrics.text()).toContain('requests_total{status="200",service="secrets"} 2');
});
