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

test('a log line is JSON with service, level word, time and fields', () => {
  const { written, destination } = lines();
  createLogger({ service: 'secrets', destination }).warn({ attempts: 2 }, 'sync failed');
  expect(JSON.parse(written[0]!)).toMatchObject({
    level: 'warn',
    service: 'secrets',
    attempts: 2,
    msg: 'sync failed',
  });
});

test('nothing secret is printed, not even by mistake', () => {
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

  test('a line is there when write resolves; those of one turn go together', async () => {
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

  test('what cannot be written is told, and the next line is tried anew', async () => {
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

  test('a file is made for its owner alone and appended to', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log');
    await openAudit(file).write(line);
    await openAudit(file).write(line);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

test('metrics are printed with the service as a label', async () => {
  const metrics = createMetrics('secrets', { processMetrics: false });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  metrics.counter('requests_total', 'Requests', ['status']).inc({ status: '200' });
  expect(await metrics.text()).toContain('requests_total{status="200",service="secrets"} 2');
});
