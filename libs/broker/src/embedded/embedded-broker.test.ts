import { describeBroker } from '../conformance/describe-broker.ts';
import { openEmbeddedTestBroker } from '../testing.ts';

describeBroker('the database', () => openEmbeddedTestBroker());
