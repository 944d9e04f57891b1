/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the state of the process to the service manager (sd_notify(3)): a datagram to the socket
 * that NOTIFY_SOCKET names. */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

#include "base/str.h"

/* "READY=1", "STOPPING=1". Does nothing without NOTIFY_SOCKET, and never blocks. */
void notify_send(struct str state);

#endif
