import { test } from '@jest/globals';
import { describeBroker } from '../conformance/describe-broker.ts';
import { openRabbitTestBroker } from '../testing.ts';

const url = process.env.TEST_AMQP_URL;

if (url === undefined) test.skip('Broker on RabbitMQ: TEST_AMQP_URL is not set', () => undefined);
else describeBroker('RabbitMQ', () => openRabbitTestBroker({ url }));
