import { describeBroker } from './conformance.ts';
import { openEmbeddedTestBroker } from './testing.ts';

describeBroker('the database', () => openEmbeddedTestBroker());
