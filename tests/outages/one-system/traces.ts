import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '../../harness/eventually.ts';
import { client, expectStatus, send } from '../../harness/http.ts';
import type { OtlpReceiver, ReceivedSpan } from '../../observability/otlp-receiver.ts';
import type { Suite } from '../describe-distributed.ts';

const random = (bytes: number) => randomBytes(bytes).toString('hex');
const [traceId, clientSpanId] = [random(16), random(8)];
const requestId = `request-${random(4)}`;
const canary = { value: `canary-${random(8)}`, name: `name-${random(8)}`, changed: `canary-${random(8)}` };

export function traces(suite: Suite, receiver: OtlpReceiver): void {
  afterAll(() => receiver.ignore()); // the other parts cause many spans

  const spansOf = (id: string) => receiver.spans.filter((span) => span.traceId === id);

  /** The spans from the first one of the trace to this one, as `<service>: <name>`. */
  function pathTo(span: ReceivedSpan): string[] {
    const parent = spansOf(span.traceId).find(({ spanId }) => spanId === span.parentId);
    return [...(parent === undefined ? [] : pathTo(parent)), `${span.service}: ${span.name}`];
  }
  const api = () => client(suite.system.url, suite.system.rootToken);
  const write = (headers: Record<string, string>, value: string) =>
    send(`${suite.system.url}/v1/kv/data/${canary.name}`, 'POST', {
      headers: { 'x-service-token': suite.system.rootToken, ...headers },
      body: { data: { k: value } },
    });
  const logs = () =>
    Object.keys(suite.system.processes).map((name) =>
      readFileSync(join(suite.system.folder, `${name}.log`), 'utf8'),
    );
  const audit = () =>
    readFileSync(join(suite.system.folder, 'audit.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('a write that is synced is one trace, from the client to the call of the provider', async () => {
    expectStatus(await api()('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    expectStatus(await write({}, canary.value), 200);
    const path = 'sys/sync/destinations/cloudA-sm/d';
    const destination = { ...(await suite.sandbox.credentials()), region: 'eu-west-1' };
    expectStatus(await api()('POST', path, destination), 200);
    const association = { mount: 'kv', secret_name: canary.name };
    expectStatus(await api()('POST', `${path}/associations/set`, association), 200);

    const traceparent = `00-${traceId}-${clientSpanId}-01`;
    expectStatus(await write({ traceparent, 'x-request-id': requestId }, canary.changed), 200);
    const call = await eventually(
      async () => spansOf(traceId).find(({ name }) => name === 'put cloudA-sm'),
      (span) => span !== undefined && pathTo(span).length === 5,
    );
    expect(pathTo(call!)).toEqual([
      'gateway: create-or-update secrets',
      'secrets: POST /*path',
      'sync-control: follow secret',
      'sync-worker-clouda-sm: sync entry',
      'sync-worker-clouda-sm: put cloudA-sm',
    ]);
    const [first] = spansOf(traceId).filter(({ service }) => service === 'gateway');
    expect(first).toMatchObject({ parentId: clientSpanId, attributes: { request_id: requestId } });
    const entry = spansOf(traceId).find(({ name }) => name === 'sync entry');
    expect(entry!.attributes).toMatchObject({ entry_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const stored = await suite.sandbox.find('cloudA-sm', `*/${canary.name}`);
    expect(stored?.value).toBe(JSON.stringify({ k: canary.changed }));
  });

  test('the audit lines have the request ID and the trace ID', () => {
    const lines = audit().filter((line) => line.request_id === requestId);
    expect(lines.map(({ type, trace_id }) => [type, trace_id])).toEqual([
      ['request', traceId],
      ['response', traceId],
    ]);
  });

  test('the log lines of a failed attempt have the entry ID and the trace ID, and its spans the kind of fault', async () => {
    const failing = random(16);
    await suite.sandbox.fault({
      effect: 'throttle',
      name: `*/${canary.name}`,
      times: 1,
      retryAfterSeconds: 1,
    });
    expectStatus(
      await write({ traceparent: `00-${failing}-${clientSpanId}-01` }, `canary-${random(8)}`),
      200,
    );
    const call = await eventually(
      async () => spansOf(failing).find(({ isFailed, name }) => isFailed && name === 'put cloudA-sm'),
      (span) => span !== undefined,
    );
    expect(call!.attributes['error.type']).toBe('throttled');
    // The line is written after the outcome is recorded, and the span may be exported before.
    const lines = await eventually(
      async () =>
        logs()
          .flatMap((text) => text.split('\n'))
          .filter((line) => line.includes('"msg":"sync failed"') && line.includes(failing)),
      (found) => found.length > 0,
    );
    expect(JSON.parse(lines[0]!)).toMatchObject({ traceId: failing, entryId: expect.any(String) });
    // The retry is part of the same trace.
    await eventually(
      async () => spansOf(failing).filter(({ name }) => name === 'put cloudA-sm'),
      (attempts) => attempts.some(({ isFailed }) => !isFailed),
    );
  });

  test('an invalid traceparent begins a new trace, and one that is not sampled is not exported', async () => {
    const [notSampled, unparsable, later] = [
      random(16),
      `00-${'0'.repeat(32)}-${clientSpanId}-01`,
      random(16),
    ];
    expectStatus(await write({ traceparent: unparsable, 'x-request-id': 'unparsable' }, '1'), 200);
    expectStatus(await write({ traceparent: `00-${notSampled}-${clientSpanId}-00` }, '2'), 200);
    expectStatus(await write({ traceparent: `00-${later}-${clientSpanId}-01` }, '3'), 200);
    await eventually(
      async () => spansOf(later).find(({ name }) => name === 'follow secret'),
      (span) => span !== undefined,
    );
    expect(spansOf(notSampled)).toEqual([]);
    const first = receiver.spans.find(
      ({ service, attributes }) => service === 'gateway' && attributes.request_id === 'unparsable',
    );
    expect(first!.parentId).toBe('');
  });

  test('no span contains a value, a token, a path or a name', () => {
    expect(receiver.spans.length).toBeGreaterThan(10);
    const raw = receiver.raw();
    expect(raw).toContain(requestId);
    for (const secret of [...Object.values(canary), suite.system.rootToken, 'kv/data'])
      expect(raw).not.toContain(secret);
  });
}
