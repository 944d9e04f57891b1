// SPDX-License-Identifier: Apache-2.0
// The PostgreSQL of a whole test run: prints the URL of its database on one line, and lives until
// its input ends. tools/run_tests.py holds that input.
import { startCluster } from './postgres.mjs';

const cluster = await startCluster(null);
console.log(cluster.url());
process.stdin.resume();
await new Promise((done) => process.stdin.on('end', done).on('error', done));
await cluster.remove();
