/* What one or several traces come to, with names: the groups of resources that the same stack allocated. All views,
 * pictures and files for other tools are made of this, and of nothing else. */
#ifndef FT_PROFILE_PROFILE_H
#define FT_PROFILE_PROFILE_H

#include "profile/account.h"

/* A function in a stack, at one place of it; each distinct one once. Two are the same if they have the same function,
 * object, file and line; without a function, the same address in the same object. Absent parts are NULL, 0. */
struct profile_frame {
	const char *function; /* demangled */
	const char *module;   /* the object's path */
	const char *file;
	unsigned line;
	bool inlined;     /* into the next frame of the stack */
	uint64_t address; /* the return address where the frame came up first */
	uint64_t offset; /* of the call, as address - 1, from where the object's file begins in memory; 0 without one */
	const char *build_id;
	size_t number; /* in profile.frames */
};

struct suppressions;

struct profile_process {
	struct account *account; /* its name, times and counts */
	bool is_old;             /* of what the profile is compared to: it counts in the groups' `old` alone */
	uint64_t offset;         /* nanoseconds from the profile's beginning to its first call; 0 where unknown */
};

/* One kind of resource, of all processes. */
struct profile_resource {
	const char *type, *desc; /* desc may be "" */
	uint32_t flags;          /* enum resource_flags */
	size_t number;           /* in profile.resources */
	/* Sums over the processes. peak is the sum of each one's peak, which need not have been at the same
	 * time; with one process it is the peak. */
	struct tally allocated, live, temporary, peak, picked, others, suppressed;
	struct tally reachable; /* of what is alive, where scans were and found it not lost */
	struct figures old;     /* as of a group */
	/* What baselinees have found from before the traces, of what is allocated and of what is alive. */
	struct tally before, before_live;
	uint64_t releases, unknown_releases, reused, references;
	struct tally lost[LOST_KINDS];   /* of what is alive, where scans were */
	struct tally not_scanned;        /* alive in processes of which it is not known */
	struct tally since_scan;         /* alive in the others, and allocated since they were looked through */
	size_t scanned;                  /* processes of which it is */
	const char *unknown, *unscanned; /* why it is not of one of the others, and of which; NULL none */
	uint64_t peak_since;             /* when it was, with one process; from the profile's beginning */
};

struct profile_member {
	size_t process; /* in profile.processes */
	const struct resource_account *resource;
	const struct site *site;
};

struct profile_group {
	const struct profile_resource *resource;
	const char *function; /* that was called: "malloc" */
	/* Innermost first, with the inlined ones; NULL if no stack was taken (has_stack is false) or it is empty. */
	const struct profile_frame *const *frames;
	uint32_t frame_count;
	bool has_stack;
	bool is_before;            /* what is older than the traces; without a stack */
	bool is_uncompared;        /* ... and the older trace knows nothing of it: it has not grown */
	bool is_suppressed;        /* what it had picked is not any more (suppressions.h) */
	bool growth_is_suppressed; /* suppressions have all kinds of what it has alive; where there is an old process */
	enum stack_end end;
	/* Sums over the members, as in struct site. */
	struct tally allocated, live, temporary, own_peak, at_peak, picked, picked_indirectly;
	struct tally lost[LOST_KINDS]; /* of what is alive, where scans were */
	struct tally reachable;        /* of what is alive, where scans were and found it not lost */
	/* Alive at each process's earlier_since, in all and of `picked`, `lost` and `reachable` (or released since). */
	struct tally earlier, earlier_picked, earlier_possibly, earlier_reachable;
	struct figures old; /* of the old processes at their ends, or at the mark */
	bool has_old;       /* an old process, or a mark, that could have some */
	uint64_t lifetimes, ages;
	uint64_t released;                   /* blocks whose lifetimes these are */
	uint64_t first_since;                /* of the first call, from the profile's beginning */
	uint64_t oldest_since, newest_since; /* births of what is alive, likewise, if anything is */
	uint64_t newest_id; /* of the newest of these, in the process of the last member that has any */
	struct profile_member *members;
	size_t member_count, member_capacity;
	size_t number; /* in the order in which they came up */
};

struct profile {
	struct profile_process *processes;
	size_t process_count, process_capacity;
	struct profile_resource **resources;
	size_t resource_count, resource_capacity;
	struct profile_group **groups;
	size_t group_count, group_capacity;
	struct profile_frame **frames;
	size_t frame_count, frame_capacity;
	bool has_old;       /* something to compare to: an old process or a mark */
	bool has_times;     /* `since` is in nanoseconds; else in calls */
	int64_t begin_sec;  /* since the Epoch, when the first process began; 0 unknown */
	uint64_t end_since; /* of the last call of all */
	uint64_t events;
	uint64_t cut, lost;                      /* stacks */
	const struct suppressions *suppressions; /* that were applied; NULL none. The caller's */
	struct intern_pool strings;
	struct hash frame_of, group_of; /* profile.c's */
	uint64_t seed;
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);
/* The accounts are the caller's again; what can be done with the profile is to free it. */
void profile_give_back(struct profile *profile);

/* After all processes: sums up. Groups of several processes are in the order in which they came up. */
void profile_end(struct profile *profile);

/* What a group had alive at a time, as the moments of its processes know it (timeline.h): at the last moment that is
 * not after it. */
struct tally profile_group_at(const struct profile *profile, const struct profile_group *group, uint64_t since);
/* What a resource had alive at a time, in all. */
struct tally profile_resource_at(const struct profile *profile, const struct profile_resource *resource,
				 uint64_t since);

/* The resource's account in one of the processes; NULL: it has none. */
const struct resource_account *profile_resource_account(const struct account *account,
							const struct profile_resource *resource);

/* Whether the frame is in a library that allocates for others (the C library, the C++ library, the dynamic linker). */
bool profile_frame_is_runtime(const struct profile_frame *frame);

/* What fills a profile: */

/* The only frame like this one, whose strings are copied. */
const struct profile_frame *profile_frame_intern(struct profile *profile, const struct profile_frame *frame);
/* The resource that has the name of this one. */
struct profile_resource *profile_resource_of(struct profile *profile, const struct resource_state *which);

/* What a group is found by. All strings are interned, all frames are the profile's. */
struct profile_group_key {
	const struct profile_resource *resource;
	const char *function;
	const struct profile_frame *const *frames;
	size_t frame_count;
	bool has_stack;
	enum stack_end end;
};

/* The group, which is new if none is like that. Its members are the caller's to add. */
struct profile_group *profile_group_of(struct profile *profile, const struct profile_group_key *key);

#endif
