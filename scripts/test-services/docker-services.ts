import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import type { TestServer } from './test-server.ts';

const run = promisify(execFile);
const docker = (args: string[], timeout: number) => run('docker', args, { timeout });

const images = { postgres: 'postgres:17', rabbitmq: 'rabbitmq:4-management' };
const answerMs = 5_000;
const pullMs = 90_000;

/** Undefined when Docker runs and has, or quickly gets, the images; else the reason. */
export async function whyNoDocker(prefix: string): Promise<string | undefined> {
  const given = [`${prefix}_DATABASE_URL`, `${prefix}_AMQP_URL`];
  if (given.every((name) => process.env[name] !== undefined)) return 'not needed';
  try {
    await docker(['info'], answerMs);
  } catch {
    return 'Docker is not running';
  }
  const got = await Promise.all(Object.values(images).map(getImage));
  return got.every(Boolean) ? undefined : 'Docker cannot get the images';
}

const hasImage = (image: string): Promise<boolean> =>
  docker(['image', 'inspect', image], answerMs).then(
    () => true,
    () => false,
  );

async function getImage(image: string): Promise<boolean> {
  if (await hasImage(image)) return true;
  return await docker(['pull', '-q', image], pullMs).then(
    () => true,
    () => false,
  );
}

export async function dockerPostgres({ durable }: { durable: boolean }): Promise<TestServer> {
  const container = await startContainer(images.postgres, (image) =>
    (durable ? image : image.withTmpFs({ '/var/lib/postgresql/data': 'rw' }))
      .withEnvironment({ POSTGRES_PASSWORD: 'test' })
      .withCommand(['postgres', '-c', `fsync=${durable ? 'on' : 'off'}`, '-c', 'max_connections=300'])
      .withExposedPorts(5432),
  );
  // The first server that runs in there only prepares the database, and listens on no network address.
  await untilExec(container, ['pg_isready', '-q', '-h', '127.0.0.1', '-U', 'postgres']);
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
  return serverOf(container, `postgres://postgres:test@${address}/postgres`, images.postgres);
}

export async function dockerRabbit(): Promise<TestServer> {
  const container = await startContainer(images.rabbitmq, (image) =>
    image
      .withEnvironment({ RABBITMQ_DEFAULT_USER: 'test', RABBITMQ_DEFAULT_PASS: 'test' })
      .withExposedPorts(5672, 15672),
  );
  await untilExec(container, ['rabbitmq-diagnostics', '-q', 'check_port_connectivity']);
  const address = `${container.getHost()}:${container.getMappedPort(5672)}`;
  return {
    ...serverOf(container, `amqp://test:test@${address}`, images.rabbitmq),
    managementUrl: `http://test:test@${container.getHost()}:${container.getMappedPort(15672)}`,
  };
}

async function startContainer(
  image: string,
  prepare: (container: GenericContainer) => GenericContainer,
): Promise<StartedTestContainer> {
  // Its helper image is only of use where it is; without it, containers are removed by us alone.
  const { stdout } = await docker(['image', 'ls', '-q', 'testcontainers/ryuk'], answerMs);
  if (stdout.trim() === '') process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = prepare(new GenericContainer(image))
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(90_000);
  return await container.start();
}

async function untilExec(container: StartedTestContainer, command: string[]): Promise<void> {
  const end = Date.now() + 60_000;
  while ((await container.exec(command)).exitCode !== 0) {
    if (Date.now() > end) throw new Error(`${command[0]} does not succeed in the container`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function serverOf(container: StartedTestContainer, url: string, image: string): TestServer {
  const id = container.getId();
  return {
    url,
    how: `${image} in Docker`,
    stop: async () => {
      await container.stop({ timeout: 0, removeVolumes: true });
    },
    stopNow: () => {
      spawnSync('docker', ['rm', '-f', '-v', id], { stdio: 'ignore', timeout: 15_000 });
    },
  };
}
