/* Names of sockets' constants. */
#include "config.h"
#include "modules/words.h"

#define WORD(name, ...)                                                                                                \
	{                                                                                                              \
		WORD_OF(#name, __VA_ARGS__, 0, 0, 0)                                                                   \
	}
#define END                                                                                                            \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}
const struct param_word words_family[] = {WORD(AF_UNSPEC, 0),
					  WORD(AF_UNIX, 1),
					  WORD(AF_INET, 2),
					  WORD(AF_AX25, 3),
					  WORD(AF_IPX, 4),
					  WORD(AF_APPLETALK, 5),
					  WORD(AF_NETROM, 6),
					  WORD(AF_BRIDGE, 7),
					  WORD(AF_ATMPVC, 8),
					  WORD(AF_X25, 9),
					  WORD(AF_INET6, 10),
					  WORD(AF_ROSE, 11),
					  WORD(AF_DECnet, 12),
					  WORD(AF_NETBEUI, 13),
					  WORD(AF_SECURITY, 14),
					  WORD(AF_KEY, 15),
					  WORD(AF_NETLINK, 16),
					  WORD(AF_PACKET, 17),
					  WORD(AF_ASH, 18),
					  WORD(AF_ECONET, 19),
					  WORD(AF_ATMSVC, 20),
					  WORD(AF_RDS, 21),
					  WORD(AF_SNA, 22),
					  WORD(AF_IRDA, 23),
					  WORD(AF_PPPOX, 24),
					  WORD(AF_WANPIPE, 25),
					  WORD(AF_LLC, 26),
					  WORD(AF_IB, 27),
					  WORD(AF_MPLS, 28),
					  WORD(AF_CAN, 29),
					  WORD(AF_TIPC, 30),
					  WORD(AF_BLUETOOTH, 31),
					  WORD(AF_IUCV, 32),
					  WORD(AF_RXRPC, 33),
					  WORD(AF_ISDN, 34),
					  WORD(AF_PHONET, 35),
					  WORD(AF_IEEE802154, 36),
					  WORD(AF_CAIF, 37),
					  WORD(AF_ALG, 38),
					  WORD(AF_NFC, 39),
					  WORD(AF_VSOCK, 40),
					  WORD(AF_KCM, 41),
					  WORD(AF_QIPCRTR, 42),
					  WORD(AF_SMC, 43),
					  WORD(AF_XDP, 44),
					  WORD(AF_MCTP, 45),
					  END};

#define FLAGS WORD(SOCK_CLOEXEC, 02000000), WORD(SOCK_NONBLOCK, 04000)

const struct param_word words_socket[] = {WORD(SOCK_STREAM, 1, 15),
					  WORD(SOCK_DGRAM, 2, 15),
					  WORD(SOCK_RAW, 3, 15),
					  WORD(SOCK_RDM, 4, 15),
					  WORD(SOCK_SEQPACKET, 5, 15),
					  WORD(SOCK_DCCP, 6, 15),
					  WORD(SOCK_PACKET, 10, 15),
					  FLAGS,
					  END};
const struct param_word words_accept[] = {FLAGS, END};

const struct param_word words_message[] = {WORD(MSG_OOB, 1),
					   WORD(MSG_PEEK, 2),
					   WORD(MSG_DONTROUTE, 4),
					   WORD(MSG_CTRUNC, 8),
					   WORD(MSG_PROBE, 0x10),
					   WORD(MSG_TRUNC, 0x20),
					   WORD(MSG_DONTWAIT, 0x40),
					   WORD(MSG_EOR, 0x80),
					   WORD(MSG_WAITALL, 0x100),
					   WORD(MSG_FIN, 0x200),
					   WORD(MSG_SYN, 0x400),
					   WORD(MSG_CONFIRM, 0x800),
					   WORD(MSG_RST, 0x1000),
					   WORD(MSG_ERRQUEUE, 0x2000),
					   WORD(MSG_NOSIGNAL, 0x4000),
					   WORD(MSG_MORE, 0x8000),
					   WORD(MSG_WAITFORONE, 0x10000),
					   WORD(MSG_BATCH, 0x40000),
					   WORD(MSG_ZEROCOPY, 0x4000000),
					   WORD(MSG_FASTOPEN, 0x20000000),
					   WORD(MSG_CMSG_CLOEXEC, 0x40000000),
					   END};

const struct param_word words_shutdown[] = {WORD(SHUT_RD, 0), WORD(SHUT_WR, 1), WORD(SHUT_RDWR, 2), END};

/* ---- Protocols, by the family ---- */

static const struct param_word internet[] = {
	WORD(IPPROTO_IP, 0),      WORD(IPPROTO_ICMP, 1),  WORD(IPPROTO_IGMP, 2),    WORD(IPPROTO_IPIP, 4),
	WORD(IPPROTO_TCP, 6),     WORD(IPPROTO_EGP, 8),   WORD(IPPROTO_PUP, 12),    WORD(IPPROTO_UDP, 17),
	WORD(IPPROTO_IDP, 22),    WORD(IPPROTO_TP, 29),   WORD(IPPROTO_DCCP, 33),   WORD(IPPROTO_IPV6, 41),
	WORD(IPPROTO_RSVP, 46),   WORD(IPPROTO_GRE, 47),  WORD(IPPROTO_ESP, 50),    WORD(IPPROTO_AH, 51),
	WORD(IPPROTO_ICMPV6, 58), WORD(IPPROTO_PIM, 103), WORD(IPPROTO_SCTP, 132),  WORD(IPPROTO_UDPLITE, 136),
	WORD(IPPROTO_MPLS, 137),  WORD(IPPROTO_RAW, 255), WORD(IPPROTO_MPTCP, 262), END};

static const struct param_word netlink[] = {WORD(NETLINK_ROUTE, 0),
					    WORD(NETLINK_USERSOCK, 2),
					    WORD(NETLINK_FIREWALL, 3),
					    WORD(NETLINK_SOCK_DIAG, 4),
					    WORD(NETLINK_NFLOG, 5),
					    WORD(NETLINK_XFRM, 6),
					    WORD(NETLINK_SELINUX, 7),
					    WORD(NETLINK_ISCSI, 8),
					    WORD(NETLINK_AUDIT, 9),
					    WORD(NETLINK_FIB_LOOKUP, 10),
					    WORD(NETLINK_CONNECTOR, 11),
					    WORD(NETLINK_NETFILTER, 12),
					    WORD(NETLINK_IP6_FW, 13),
					    WORD(NETLINK_KOBJECT_UEVENT, 15),
					    WORD(NETLINK_GENERIC, 16),
					    WORD(NETLINK_CRYPTO, 21),
					    END};

const struct param_case cases_protocol[] = {
	{2, 0, PARAM_INT, internet}, {10, 0, PARAM_INT, internet}, {16, 0, PARAM_INT, netlink}, {0}};

/* ---- Options, by the level ---- */

const struct param_word words_level[] = {WORD(SOL_IP, 0),       WORD(SOL_SOCKET, 1),    WORD(SOL_TCP, 6),
					 WORD(SOL_UDP, 17),     WORD(SOL_IPV6, 41),     WORD(SOL_RAW, 255),
					 WORD(SOL_PACKET, 263), WORD(SOL_NETLINK, 270), END};

static const struct param_word of_socket[] = {WORD(SO_DEBUG, 1),          WORD(SO_REUSEADDR, 2),
					      WORD(SO_TYPE, 3),           WORD(SO_ERROR, 4),
					      WORD(SO_DONTROUTE, 5),      WORD(SO_BROADCAST, 6),
					      WORD(SO_SNDBUF, 7),         WORD(SO_RCVBUF, 8),
					      WORD(SO_KEEPALIVE, 9),      WORD(SO_OOBINLINE, 10),
					      WORD(SO_NO_CHECK, 11),      WORD(SO_PRIORITY, 12),
					      WORD(SO_LINGER, 13),        WORD(SO_REUSEPORT, 15),
					      WORD(SO_PASSCRED, 16),      WORD(SO_PEERCRED, 17),
					      WORD(SO_RCVLOWAT, 18),      WORD(SO_SNDLOWAT, 19),
					      WORD(SO_RCVTIMEO_OLD, 20),  WORD(SO_SNDTIMEO_OLD, 21),
					      WORD(SO_BINDTODEVICE, 25),  WORD(SO_ATTACH_FILTER, 26),
					      WORD(SO_DETACH_FILTER, 27), WORD(SO_PEERNAME, 28),
					      WORD(SO_ACCEPTCONN, 30),    WORD(SO_PEERSEC, 31),
					      WORD(SO_SNDBUFFORCE, 32),   WORD(SO_RCVBUFFORCE, 33),
					      WORD(SO_PASSSEC, 34),       WORD(SO_MARK, 36),
					      WORD(SO_PROTOCOL, 38),      WORD(SO_DOMAIN, 39),
					      WORD(SO_BUSY_POLL, 46),     WORD(SO_INCOMING_CPU, 49),
					      WORD(SO_ZEROCOPY, 60),      WORD(SO_RCVTIMEO_NEW, 66),
					      WORD(SO_SNDTIMEO_NEW, 67),  END};

static const struct param_word of_tcp[] = {WORD(TCP_NODELAY, 1),
					   WORD(TCP_MAXSEG, 2),
					   WORD(TCP_CORK, 3),
					   WORD(TCP_KEEPIDLE, 4),
					   WORD(TCP_KEEPINTVL, 5),
					   WORD(TCP_KEEPCNT, 6),
					   WORD(TCP_SYNCNT, 7),
					   WORD(TCP_LINGER2, 8),
					   WORD(TCP_DEFER_ACCEPT, 9),
					   WORD(TCP_WINDOW_CLAMP, 10),
					   WORD(TCP_INFO, 11),
					   WORD(TCP_QUICKACK, 12),
					   WORD(TCP_CONGESTION, 13),
					   WORD(TCP_USER_TIMEOUT, 18),
					   WORD(TCP_FASTOPEN, 23),
					   WORD(TCP_NOTSENT_LOWAT, 25),
					   WORD(TCP_FASTOPEN_CONNECT, 30),
					   WORD(TCP_ULP, 31),
					   END};

static const struct param_word of_ip[] = {WORD(IP_TOS, 1),
					  WORD(IP_TTL, 2),
					  WORD(IP_HDRINCL, 3),
					  WORD(IP_OPTIONS, 4),
					  WORD(IP_RECVOPTS, 6),
					  WORD(IP_PKTINFO, 8),
					  WORD(IP_MTU_DISCOVER, 10),
					  WORD(IP_RECVERR, 11),
					  WORD(IP_RECVTTL, 12),
					  WORD(IP_RECVTOS, 13),
					  WORD(IP_MTU, 14),
					  WORD(IP_FREEBIND, 15),
					  WORD(IP_TRANSPARENT, 19),
					  WORD(IP_BIND_ADDRESS_NO_PORT, 24),
					  WORD(IP_MULTICAST_IF, 32),
					  WORD(IP_MULTICAST_TTL, 33),
					  WORD(IP_MULTICAST_LOOP, 34),
					  WORD(IP_ADD_MEMBERSHIP, 35),
					  WORD(IP_DROP_MEMBERSHIP, 36),
					  END};

static const struct param_word of_ipv6[] = {WORD(IPV6_UNICAST_HOPS, 16),
					    WORD(IPV6_MULTICAST_IF, 17),
					    WORD(IPV6_MULTICAST_HOPS, 18),
					    WORD(IPV6_MULTICAST_LOOP, 19),
					    WORD(IPV6_ADD_MEMBERSHIP, 20),
					    WORD(IPV6_DROP_MEMBERSHIP, 21),
					    WORD(IPV6_MTU_DISCOVER, 23),
					    WORD(IPV6_MTU, 24),
					    WORD(IPV6_RECVERR, 25),
					    WORD(IPV6_V6ONLY, 26),
					    WORD(IPV6_RECVPKTINFO, 49),
					    WORD(IPV6_TCLASS, 67),
					    END};

const struct param_case cases_socket_option[] = {{0, 0, PARAM_INT, of_ip},
						 {1, 0, PARAM_INT, of_socket},
						 {6, 0, PARAM_INT, of_tcp},
						 {41, 0, PARAM_INT, of_ipv6},
						 {0}};

/* ---- What getaddrinfo() returns ---- */

const struct param_word words_name_error[] = {WORD(EAI_BADFLAGS, (uint64_t)-1),
					      WORD(EAI_NONAME, (uint64_t)-2),
					      WORD(EAI_AGAIN, (uint64_t)-3),
					      WORD(EAI_FAIL, (uint64_t)-4),
					      WORD(EAI_NODATA, (uint64_t)-5),
					      WORD(EAI_FAMILY, (uint64_t)-6),
					      WORD(EAI_SOCKTYPE, (uint64_t)-7),
					      WORD(EAI_SERVICE, (uint64_t)-8),
					      WORD(EAI_ADDRFAMILY, (uint64_t)-9),
					      WORD(EAI_MEMORY, (uint64_t)-10),
					      WORD(EAI_SYSTEM, (uint64_t)-11),
					      WORD(EAI_OVERFLOW, (uint64_t)-12),
					      END};
