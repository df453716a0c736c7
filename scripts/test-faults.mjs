// A campaign of real jobs in which something goes wrong; --help says what can be chosen. Ends with "N passed, N failed, N skipped".
import { campaign } from '../build/test/faults/campaign.js';

process.exitCode = await campaign(process.argv.slice(2));
