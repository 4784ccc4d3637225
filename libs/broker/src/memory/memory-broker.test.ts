import { describeBroker } from '../conformance/describe-broker.ts';
import { openMemoryTestBroker } from '../testing.ts';

describeBroker('memory', () => openMemoryTestBroker());
