import { expect, test } from '@jest/globals';
import { type NetworkPolicy, type Peer, permissions } from './network-policies.ts';

const source: Peer = { name: 'source', labels: { app: 'source' } };
const target: Peer = { name: 'target', labels: { app: 'target' }, ports: { api: 8200 } };
const policy = (name: string, spec: NetworkPolicy['spec']): NetworkPolicy => ({ metadata: { name }, spec });
const denyAll = policy('deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
const egress = (rule: object) =>
  policy('out', { podSelector: { matchLabels: { app: 'source' } }, policyTypes: ['Egress'], egress: [rule] });
const ingress = (rule: object) =>
  policy('in', { podSelector: { matchLabels: { app: 'target' } }, ingress: [rule] });
const isPermitted = (policies: NetworkPolicy[], other: Peer = target, port = 8200) =>
  permissions(policies, source, other, port).isPermitted;

test('a pod that no policy selects is not restricted', () => {
  expect(isPermitted([])).toBe(true);
  expect(isPermitted([denyAll])).toBe(false);
});

test('a connection needs a policy of both ends', () => {
  expect(isPermitted([denyAll, egress({})])).toBe(false);
  expect(isPermitted([denyAll, ingress({})])).toBe(false);
  expect(permissions([denyAll, egress({}), ingress({})], source, target, 1)).toEqual({
    isPermitted: true,
    egress: { isRestricted: true, policies: ['out'] },
    ingress: { isRestricted: true, policies: ['in'] },
  });
});

test('ports are numbers, ranges, or names that the target defines; only TCP counts', () => {
  const at = (port: object, number: number) =>
    isPermitted([denyAll, egress({}), ingress({ ports: [port] })], target, number);
  expect(at({ protocol: 'TCP', port: 8200 }, 8200)).toBe(true);
  expect(at({ protocol: 'TCP', port: 8200 }, 8201)).toBe(false);
  expect(at({ protocol: 'TCP', port: 'api' }, 8200)).toBe(true);
  expect(at({ protocol: 'TCP', port: 'internal' }, 8200)).toBe(false);
  expect(at({ protocol: 'TCP', port: 8000, endPort: 9000 }, 8200)).toBe(true);
  expect(at({ protocol: 'UDP', port: 8200 }, 8200)).toBe(false);
});

test('a selector of pods means those of the same namespace, unless it names another one', () => {
  const stranger = { ...target, namespace: 'other' };
  const podSelector = { matchLabels: { app: 'target' } };
  expect(isPermitted([egress({ to: [{ podSelector }] })], target)).toBe(true);
  expect(isPermitted([egress({ to: [{ podSelector }] })], stranger)).toBe(false);
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'other' } };
  expect(isPermitted([egress({ to: [{ podSelector, namespaceSelector }] })], stranger)).toBe(true);
  expect(isPermitted([egress({ to: [{ namespaceSelector }] })], target)).toBe(false);
});

test('expressions of a selector', () => {
  const to = (operator: string, values?: string[], key = 'app') =>
    isPermitted([egress({ to: [{ podSelector: { matchExpressions: [{ key, operator, values }] } }] })]);
  expect([to('In', ['target']), to('In', ['other'])]).toEqual([true, false]);
  expect([to('NotIn', ['target']), to('NotIn', ['other'])]).toEqual([false, true]);
  expect([to('Exists'), to('Exists', undefined, 'other')]).toEqual([true, false]);
  expect([to('DoesNotExist'), to('DoesNotExist', undefined, 'other')]).toEqual([false, true]);
});

test('a block of addresses, without its exceptions, does not select pods', () => {
  const to = (address: string) =>
    isPermitted([egress({ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] })], {
      name: 'address',
      address,
    });
  expect([to('203.0.113.7'), to('10.1.2.3'), to('2606:4700::1')]).toEqual([true, false, false]);
  expect(isPermitted([egress({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] })], target)).toBe(false);
});
