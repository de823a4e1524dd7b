/*
 * System calls in a guest: the registers that a call leaves alone must survive whatever
 * comes between it and its result: other threads of the address space, signals with
 * handlers that make calls themselves, restarts, a debugger that looks at all registers
 * and changes some. Ends with 0 if they do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { \
	printf("line %d: %s (errno %d)\n", __LINE__, #what, errno); exit(1); } } while (0)

/* A call with known values in nine registers, which must be there after it. */
static long call(long nr, long a, long b, long c, unsigned long seed)
{
	unsigned long out[9];
	long ret;
	int i;

	__asm__ volatile(
		"mov %[seed],%%rbx; lea 1(%%rbx),%%r12; lea 2(%%rbx),%%r13; lea 3(%%rbx),%%r14; lea 4(%%rbx),%%r15;"
		"lea 5(%%rbx),%%r8; lea 6(%%rbx),%%r9; xor %%r10,%%r10;"
		"syscall;"
		"mov %%rbx,%[o0]; mov %%r12,%[o1]; mov %%r13,%[o2]; mov %%r14,%[o3]; mov %%r15,%[o4];"
		"mov %%r8,%[o5]; mov %%r9,%[o6]; mov %%rdi,%[o7]; mov %%rsi,%[o8];"
		: "=a"(ret), [o0] "=m"(out[0]), [o1] "=m"(out[1]), [o2] "=m"(out[2]), [o3] "=m"(out[3]),
		  [o4] "=m"(out[4]), [o5] "=m"(out[5]), [o6] "=m"(out[6]), [o7] "=m"(out[7]), [o8] "=m"(out[8])
		: "0"(nr), "D"(a), "S"(b), "d"(c), [seed] "m"(seed)
		: "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory");
	for (i = 0; i < 7; i++)
		CHECK(out[i] == seed + i);
	CHECK(out[7] == (unsigned long) a && out[8] == (unsigned long) b);
	return ret;
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	ticks++;
	call(__NR_getppid, 7, 8, 9, 0xdead0000);
}

static int there[2], back[2];

static void *partner(void *unused)
{
	char c;

	while (call(__NR_read, there[0], (long) &c, 1, 0xbeef0000) == 1 && c != 'z')
		CHECK(call(__NR_write, back[1], (long) &c, 1, 0xcafe0000) == 1);
	return NULL;
}

/* Two threads take turns, and a timer interrupts both; calls go on where they were. */
static void threads(void)
{
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 100 }, { 0, 100 } }, off = { 0 };
	struct timespec nap = { 0, 20000 };
	pthread_t thread;
	char c;
	int i;

	CHECK(!pipe(there) && !pipe(back) && !sigaction(SIGALRM, &action, NULL));
	CHECK(!pthread_create(&thread, NULL, partner, NULL) && !setitimer(ITIMER_REAL, &timer, NULL));
	for (i = 0; i < 500; i++) {
		c = 'a' + i % 20;
		call(__NR_nanosleep, (long) &nap, 0, 0, 0xf00d0000 + i);
		CHECK(call(__NR_write, there[1], (long) &c, 1, 0x1000 * i) == 1);
		CHECK(call(__NR_read, back[0], (long) &c, 1, 0x2000 * i) == 1 && c == 'a' + i % 20);
	}
	CHECK(!setitimer(ITIMER_REAL, &off, NULL) && write(there[1], "z", 1) == 1 && !pthread_join(thread, NULL));
	CHECK(ticks > 10);
}

static char other_stack[65536];
static volatile int on_stack;
static sigjmp_buf again;
static volatile int *volatile nothing = (int *) 8;

static void on_other_stack(int sig)
{
	char here;
	stack_t s = { .ss_flags = SS_DISABLE };

	on_stack = &here >= other_stack && &here < other_stack + sizeof(other_stack);
	CHECK(sigaltstack(&s, NULL) == -1 && errno == EPERM); /* one that is in use stays */
}

static void jump(int sig) { siglongjmp(again, sig); }

static void signals(void)
{
	struct sigaction action = { .sa_handler = on_other_stack, .sa_flags = SA_ONSTACK };
	struct itimerval timer = { { 0, 0 }, { 0, 1000 } };
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	CHECK(!sigaltstack(&stack, NULL) && !sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
	CHECK(call(__NR_pause, 0, 0, 0, 0x77770000) == -EINTR && on_stack);

	signal(SIGSEGV, jump);
	signal(SIGTRAP, jump);
	signal(SIGILL, jump);
	switch (sigsetjmp(again, 1)) {
	case 0: *nothing = 1;
	case SIGSEGV: __asm__ volatile("int3");
	case SIGTRAP: __asm__ volatile("ud2");
	case SIGILL: return;
	}
	CHECK(0);
}

/* What a debugger sees of a call, and changes. */
static void traced(void)
{
	struct user_regs_struct regs;
	int status, calls = 0, steps = 0, ends = 0;
	unsigned long sp = 0;
	pid_t pid = fork();

	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, 0, 0) && !raise(SIGSTOP));
		CHECK(call(__NR_getppid, 1, 2, 3, 0x11110000) == 4242);
		CHECK(call(__NR_getppid, 1, 2, 3, 0x22220000) == 4242);
		exit(3);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	CHECK(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT));
	while (calls < 4) {
		CHECK(!ptrace(PTRACE_SYSCALL, pid, 0, 0) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		CHECK(!ptrace(PTRACE_GETREGS, pid, 0, &regs));
		if (regs.orig_rax != __NR_getppid)
			continue;
		CHECK(WSTOPSIG(status) == (SIGTRAP | 0x80));
		CHECK(regs.rdi == 1 && regs.rsi == 2 && regs.r14 - regs.r12 == 2 && regs.r9 - regs.r8 == 1);
		CHECK(regs.rsp > 4096 && (!sp || sp == regs.rsp));
		sp = regs.rsp;
		if (calls++ % 2)
			CHECK(!ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), 4242));
	}
	while (!ends) {
		CHECK(!ptrace(steps++ < 100 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, 0, 0));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		CHECK(!ptrace(PTRACE_GETREGS, pid, 0, &regs) && regs.rsp - sp + 65536 < 131072);
		ends = status >> 16 == PTRACE_EVENT_EXIT;
	}
	CHECK(steps > 100);
	CHECK(!ptrace(PTRACE_CONT, pid, 0, 0) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* Processes that share an address space, leave it, and are killed in a call. */
static void processes(void)
{
	int status;
	pid_t pid = vfork();

	if (!pid)
		execl("/proc/self/exe", "calls", "in a child", NULL);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	pid = fork();
	if (!pid)
		for (;;)
			call(__NR_pause, 0, 0, 0, 0x33330000);
	usleep(1000);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return call(__NR_getppid, 1, 2, 3, 0x44440000) > 0 ? 0 : 1;
	threads();
	signals();
	traced();
	processes();
	printf("every call went well\n");
	return 0;
}
