import { execFile, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import type { TestServer } from './test-server.ts';

const run = promisify(execFile);
const docker = (args: string[], timeout: number) => run('docker', args, { timeout });

const image = 'rabbitmq:4-management';
const answerMs = 5_000;
const pullMs = 90_000;

/** Returns the reason why no container can be started, or undefined if Docker runs and has the image or can pull it quickly. */
async function whyNoDocker(): Promise<string | undefined> {
  if (!(await succeeds(['info'], answerMs))) return 'Docker is not running';
  const hasImage =
    (await succeeds(['image', 'inspect', image], answerMs)) ||
    (await succeeds(['pull', '-q', image], pullMs));
  return hasImage ? undefined : `Docker cannot pull ${image}`;
}

const succeeds = (args: string[], timeout: number): Promise<boolean> =>
  docker(args, timeout).then(
    () => true,
    () => false,
  );

/** Starts RabbitMQ in a container, or returns the reason why that is not possible. */
export async function dockerRabbit(): Promise<TestServer | string> {
  const reason = await whyNoDocker();
  if (reason !== undefined) return reason;
  const container = await startContainer((container) =>
    container
      .withEnvironment({ RABBITMQ_DEFAULT_USER: 'test', RABBITMQ_DEFAULT_PASS: 'test' })
      .withExposedPorts(5672, 15672),
  );
  await untilExec(container, ['rabbitmq-diagnostics', '-q', 'check_port_connectivity']);
  const address = `${container.getHost()}:${container.getMappedPort(5672)}`;
  return {
    ...serverOf(container, `amqp://test:test@${address}`),
    managementUrl: `http://test:test@${container.getHost()}:${container.getMappedPort(15672)}`,
  };
}

async function startContainer(
  prepare: (container: GenericContainer) => GenericContainer,
): Promise<StartedTestContainer> {
  // Ryuk removes the containers of killed processes. Without its image, testcontainers must not try to start it.
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
    if (Date.now() > end) throw new Error(`${command[0]} failed in the container for a minute`);
    await sleep(200);
  }
}

function serverOf(container: StartedTestContainer, url: string): TestServer {
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
