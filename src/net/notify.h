/* SPDX-License-Identifier: Apache-2.0 */
/* Telling the service manager how the process is (sd_notify(3)): a datagram to the socket that
 * NOTIFY_SOCKET names. */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

#include "base/str.h"

/* "READY=1", "STOPPING=1". Does nothing where nobody asked for it; nobody waits for it. */
void notify_send(struct str state);

#endif
