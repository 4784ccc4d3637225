import { workers } from '../../services/setup/src/database-roles.ts';
import type { Stack } from './stack.ts';

const services = ['gateway', 'login', 'secrets', 'sync-control', ...workers];

/** A program that runs in a container and reports what it can do there but must not. */
const attempts = `
  const fs = require('node:fs');
  const failures = [];
  const refused = (what, act) => { try { act(); failures.push(what); } catch {} };
  if (process.getuid() !== 1000) failures.push('runs as user ' + process.getuid());
  refused('writes to its own program', () => fs.writeFileSync('src/main.js', ''));
  refused('writes to the file system', () => fs.writeFileSync('/home/node/x', ''));
  refused('writes to its keys', () => fs.writeFileSync('/run/keys/x', ''));
  const caps = /CapEff:\\s*(\\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
  if (BigInt('0x' + caps) !== 0n) failures.push('has capabilities ' + caps);
  if (!/NoNewPrivs:\\s*1/.test(fs.readFileSync('/proc/self/status', 'utf8'))) failures.push('may gain privileges');
  console.log(JSON.stringify({ failures, keys: fs.readdirSync('/run/keys').sort(), environment: Object.values(process.env).join(' ') }));
`;

const reach = (url: string) =>
  `fetch('${url}', { signal: AbortSignal.timeout(15_000) }).then(() => console.log('reached'), () => console.log('not reached'))`;

const brokerUser = `console.log(new URL(require('node:fs').readFileSync('/run/keys/amqp-url', 'utf8')).username)`;

/** Prints what a server's first process may do, and whether a file system outside of its volumes can be written. */
const serverStatus =
  'cat /proc/1/status; for path in /etc /usr /var/lib /; do if (: > "$path/x") 2>/dev/null; then echo "Writes: $path"; fi; done';

/** Throws if a server, whose image is not ours, runs as root, with capabilities, or with an image that it can change. */
export async function checkServer(stack: Stack, service: string): Promise<void> {
  const status = await stack.ask('exec', '-T', service, 'sh', '-c', serverStatus);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1];
  const failures = [
    ...(field('Uid') === '0' ? ['runs as root'] : []),
    ...(BigInt(`0x${field('CapEff')}`) === 0n ? [] : [`has capabilities ${field('CapEff')}`]),
    ...(field('NoNewPrivs') === '1' ? [] : ['may gain privileges']),
    ...(field('Writes') === undefined ? [] : [`writes to ${field('Writes')}`]),
  ];
  if (failures.length > 0) throw new Error(`${service} ${failures.join(', ')}`);
  console.log(`  ${service}: uid ${field('Uid')}, read-only, no capabilities`);
}

/** Throws if a service can do more in its container than it needs. */
export async function checkConfinement(stack: Stack): Promise<void> {
  const inside = async (service: string, script: string) =>
    (await stack.ask('exec', '-T', service, 'node', '-e', script)).trim();
  for (const service of services) {
    const seen = JSON.parse(await inside(service, attempts)) as {
      failures: string[];
      keys: string[];
      environment: string;
    };
    if (seen.failures.length > 0) throw new Error(`${service} ${seen.failures.join(', ')}`);
    if (/:\/\/[^/\s]+:[^/\s]+@/.test(seen.environment))
      throw new Error(`${service} has a password in its environment`);
    console.log(`  ${service}: uid 1000, read-only, no capabilities; keys: ${seen.keys.join(', ')}`);
  }
  for (const server of ['postgres', 'rabbitmq']) await checkServer(stack, server);
  for (const [service, expected] of [
    ['secrets', 'not reached'],
    ['sync-control', 'not reached'],
    ['gateway', 'not reached'],
    ...workers.map((worker) => [worker, 'reached'] as const),
    ['login', 'reached'],
  ] as const) {
    const answer = await inside(service, reach('http://sandbox:8300/'));
    if (answer !== expected)
      throw new Error(`the sandbox was ${answer} from ${service}, expected: ${expected}`);
  }
  console.log('  only the workers and login can reach the outward network');
  for (const service of ['secrets', 'sync-control', ...workers]) {
    const user = await inside(service, brokerUser);
    if (user !== service) throw new Error(`${service} connects to RabbitMQ as ${user}`);
  }
  console.log('  each service has its own RabbitMQ user');
}

/**
 * Tries to reach each server without TLS, or without a certificate, from the container of a worker, and prints what it has
 * reached.
 */
const tlsAttempts = `
  const net = require('node:net'), tls = require('node:tls'), fs = require('node:fs');
  const ca = fs.readFileSync('/run/keys/ca.crt');
  const send = (connect, host, port) => new Promise((resolve) => {
    const socket = connect({ host, port, ca, servername: host });
    const end = (reached) => { socket.destroy(); resolve(reached ? [host + ':' + port] : []); };
    socket.on('data', () => end(true)).on('error', () => end(false)).on('close', () => end(false));
    setTimeout(() => end(false), 5000);
    socket.write('GET /readyz HTTP/1.1\\r\\nHost: ' + host + '\\r\\n\\r\\n');
  });
  const services = [['login', 7001], ['secrets', 7002], ['sync-control', 7003]];
  Promise.all([
    ...services.map(([host, port]) => send(net.connect, host, port)),
    ...services.map(([host, port]) => send(tls.connect, host, port)),
    ...[5672, 15672].map((port) => send(net.connect, 'rabbitmq', port)),
  ]).then((reached) => console.log(reached.flat().join()));
`;

const plainConnections = `select count(*) from pg_stat_activity join pg_stat_ssl using (pid)
  where backend_type = 'client backend' and application_name <> 'psql' and not ssl`;

/**
 * Throws if a server answers without TLS, or without the certificate of a service that may call, or a connection is not
 * encrypted.
 */
export async function checkTls(stack: Stack): Promise<void> {
  const reached = (await stack.ask('exec', '-T', 'sync-worker-codehost', 'node', '-e', tlsAttempts)).trim();
  if (reached !== '') throw new Error(`reached without a certificate: ${reached}`);
  const psql = ['psql', '--username=postgres', '--tuples-only', '--no-align', 'secrets'];
  const count = await stack.ask('exec', '-T', 'postgres', ...psql, '--command', plainConnections);
  if (count.trim() !== '0') throw new Error(`${count.trim()} connections to PostgreSQL without TLS`);
}
