import { jest, test } from '@jest/globals';
import { describeBroker } from '../conformance/describe-broker.ts';
import { openRabbitTestBroker } from '../testing.ts';

jest.setTimeout(30_000); // the slowest test takes 3 s: a connection that hangs is found soon

const url = process.env.TEST_AMQP_URL;

if (url === undefined) test.skip('Broker on RabbitMQ: TEST_AMQP_URL is not set', () => undefined);
else describeBroker('RabbitMQ', () => openRabbitTestBroker({ url }));
